import { gridKey } from './keyboard.js';

/** Milliseconds without a key that count as a pause. */
const PAUSE = 300;

/** The field that searches while the user types: after a pause, or at once on Enter. `/` focuses it from anywhere. */
export class SearchField {
  #input;
  #timer = 0;
  #last = '';

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
    input.addEventListener('input', (event) => {
      clearTimeout(this.#timer);
      if (!event.isComposing) this.#timer = setTimeout(() => send(false), PAUSE);
    });
    input.addEventListener('compositionend', () => {
      this.#timer = setTimeout(() => send(false), PAUSE);
    });
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

  set hint(hint) {
    this.#input.placeholder = hint;
    this.#input.setAttribute('aria-label', hint);
  }
}
