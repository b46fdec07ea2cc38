import { choices } from './choice.js';

/** How many times as large as usual cells are, in steps; the usual size is in the middle. */
const STEPS = [0.5, 0.7, 1, 1.4, 2];
const USUAL = 2;
/** How far two fingers go for a step. */
const PINCH = 1.35;
/** The storage key. */
const KEY = 'density';

/** The size of the cells: larger with `+` or by spreading two fingers, smaller with `-` or by closing them. */
export class Density {
  #step = STEPS.indexOf(Number(choices.get(KEY)));
  #changed;

  /** `changed(enlargement)` hears of each size, at once of the present one. */
  constructor(element, changed) {
    if (this.#step < 0) this.#step = USUAL;
    this.#changed = changed;
    changed(STEPS[this.#step]);
    addEventListener('keydown', (event) => {
      const direction = { '+': 1, '=': 1, '-': -1 }[event.key];
      const isElsewhere = event.target.closest?.('input, select, dialog');
      if (!direction || event.ctrlKey || event.metaKey || event.altKey || isElsewhere) return;
      event.preventDefault();
      this.#go(direction);
    });
    let start = 0;
    const begin = ({ touches }) => (start = touches.length === 2 ? apart(touches) : 0);
    const follow = ({ touches }) => {
      if (start === 0 || touches.length !== 2) return;
      const ratio = apart(touches) / start;
      if (ratio < PINCH && ratio > 1 / PINCH) return;
      start *= ratio;
      this.#go(ratio > 1 ? 1 : -1);
    };
    element.addEventListener('touchstart', begin, { passive: true });
    element.addEventListener('touchmove', follow, { passive: true });
  }

  #go(direction) {
    const step = Math.min(Math.max(this.#step + direction, 0), STEPS.length - 1);
    if (step === this.#step) return;
    this.#step = step;
    choices.set(KEY, STEPS[step]);
    this.#changed(STEPS[step]);
  }
}

function apart([one, two]) {
  return Math.hypot(one.clientX - two.clientX, one.clientY - two.clientY);
}
