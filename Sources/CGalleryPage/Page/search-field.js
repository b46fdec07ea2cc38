import { gridKey } from './keyboard.js';

/** Milliseconds without a key that count as a pause: a photo service counts requests. */
const PAUSE = 300;
/** The same where a search is of this machine alone. */
const SHORT_PAUSE = 40;

/** The field that searches while the user types: after a pause, or at once on Enter. `/` focuses it from anywhere. */
export class SearchField {
  #input;
  #timer = 0;
  #last = '';
  #pause = PAUSE;

  /** `search(query, isEntered)` is called for each new query. */
  constructor(form, input, search) {
    this.#input = input;
    const send = (isEntered) => {
      clearTimeout(this.#timer);
      const query = this.#input.value.trim();
      if (query === this.#last && !isEntered) return;
      this.#last = query;
      search(query, isEntered);
    };
    const wait = ({ isComposing }) => {
      clearTimeout(this.#timer);
      if (!isComposing) this.#timer = setTimeout(() => send(false), this.#pause);
    };
    input.addEventListener('input', wait);
    input.addEventListener('compositionend', wait);
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      send(true);
      // A touch keyboard would cover the results.
      if (matchMedia('(pointer: coarse)').matches) input.blur();
    });
    addEventListener('keydown', (event) => {
      if (gridKey(event) !== '/') return;
      event.preventDefault();
      input.focus();
      input.select();
    });
  }

  /** Shows a query that comes from elsewhere. */
  set query(query) {
    clearTimeout(this.#timer);
    this.#last = query;
    if (this.#input.value.trim() !== query) this.#input.value = query;
  }

  /** Whether results come at once. */
  set isQuick(isQuick) {
    this.#pause = isQuick ? SHORT_PAUSE : PAUSE;
  }

  set hint(hint) {
    this.#input.placeholder = hint;
    this.#input.ariaLabel = hint;
  }
}
