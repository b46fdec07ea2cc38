import { element } from './words.js';

/** Milliseconds that a message stays. */
const STAY = 8000;

/** A message at the lower edge that disappears by itself, and may offer one action, such as to undo. */
export class Toast {
  #element;
  #timer = 0;
  #action = null;
  #subject = null;

  constructor(element) {
    this.#element = element;
    const hold = () => clearTimeout(this.#timer);
    element.addEventListener('pointerenter', hold);
    element.addEventListener('pointerleave', () => this.#wait());
    element.addEventListener('focusin', hold);
    element.addEventListener('focusout', () => this.#wait());
    addEventListener('keydown', (event) => {
      const isUndo = event.key === 'z' && (event.ctrlKey || event.metaKey) && !event.shiftKey;
      if (!isUndo || !this.#action || event.target.matches?.('input')) return;
      event.preventDefault();
      this.#act();
    });
  }

  /** The subject of the current message, from `show`; null if there is none. */
  get subject() {
    return this.#subject;
  }

  /** Shows a text in place of the last one. `host` is the topmost element: a modal dialog makes all others inert. */
  show(text, { host = document.body, label = null, action = null, subject = null } = {}) {
    this.#action = action;
    this.#subject = subject;
    this.#element.replaceChildren(element('span', text));
    if (label) {
      const button = element('button', label);
      button.addEventListener('click', () => this.#act());
      this.#element.append(button);
    }
    host.append(this.#element);
    this.#element.hidden = false;
    this.#wait();
  }

  /** Moves the message to the topmost element. */
  moveTo(host) {
    host.append(this.#element);
  }

  #act() {
    const action = this.#action;
    this.#close();
    action?.();
  }

  #wait() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#close(), STAY);
  }

  #close() {
    clearTimeout(this.#timer);
    this.#action = null;
    this.#subject = null;
    this.#element.hidden = true;
  }
}
