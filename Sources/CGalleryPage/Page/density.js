import { gridKey } from './keyboard.js';

/** How many times as large as usual cells are, in steps; the usual size is in the middle. */
const STEPS = [0.5, 0.7, 1, 1.4, 2];
const USUAL = 2;
/** How far two fingers go for a step. */
const PINCH = 1.35;
/** The storage key. */
const KEY = 'density';

/** The size of the cells: by `+` and `-`, by spreading and closing two fingers. */
export class Density {
  #step = STEPS.indexOf(Number(choices.get(KEY)));
  #changed;

  /** Two fingers are those on `content`. `changed(enlargement)` hears of each size, at once of the present one. */
  constructor(content, changed) {
    if (this.#step < 0) this.#step = USUAL;
    this.#changed = changed;
    changed(STEPS[this.#step]);
    addEventListener('keydown', (event) => {
      const direction = { '+': 1, '=': 1, '-': -1 }[gridKey(event)];
      if (!direction) return;
      event.preventDefault();
      this.#go(direction);
    });
    let pinch = null;
    const begin = ({ touches }) => {
      pinch?.abort();
      if (touches.length !== 2) return;
      pinch = new AbortController();
      let start = apart(touches);
      const follow = (event) => {
        if (event.touches.length !== 2) return;
        const ratio = apart(event.touches) / start;
        if (ratio < PINCH && ratio > 1 / PINCH) return;
        start *= ratio;
        this.#go(ratio > 1 ? 1 : -1);
      };
      // A new size takes the touched cells out of the document, where their events reach nothing else.
      const options = { passive: true, signal: pinch.signal };
      for (const { target } of touches) target.addEventListener('touchmove', follow, options);
    };
    content.addEventListener('touchstart', begin, { passive: true });
  }

  #go(direction) {
    const step = Math.min(Math.max(this.#step + direction, 0), STEPS.length - 1);
    if (step === this.#step) return;
    this.#step = step;
    choices.set(KEY, STEPS[step]);
    this.#changed(STEPS[this.#step]);
  }
}

function apart([one, two]) {
  return Math.hypot(one.clientX - two.clientX, one.clientY - two.clientY);
}

/** What the user has chosen for this page, kept in the browser. Without storage a choice holds until the next load. */
export const choices = {
  get(name) {
    try {
      return localStorage.getItem(name);
    } catch {
      return null;
    }
  },

  set(name, value) {
    try {
      localStorage.setItem(name, value);
    } catch {
      // See above.
    }
  },
};
