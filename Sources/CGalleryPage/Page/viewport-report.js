/** Milliseconds between reports while the grid moves: ten a second. */
const INTERVAL = 100;

/**
 * Reports the viewport to the server, so that it makes those thumbnails first: at most ten times a second, and once
 * more at rest. One report is under way at a time; the newest one waits.
 */
export class ViewportReport {
  #send;
  #next = null;
  #last = '';
  #timer = 0;
  #isSending = false;

  /** `send(viewport)` returns a promise. */
  constructor(send) {
    this.#send = send;
  }

  /** `key` distinguishes reports of different results with the same viewport. */
  report(viewport, key) {
    this.#next = { viewport, key };
    if (this.#timer === 0 && !this.#isSending) this.#flush();
  }

  /** Drops the last report: the server may be another one now. */
  reset() {
    this.#last = '';
  }

  async #flush() {
    const next = this.#next;
    this.#next = null;
    if (!next) return;
    const text = next.key + JSON.stringify(next.viewport);
    if (text === this.#last) return;
    this.#last = text;
    this.#isSending = true;
    const sending = this.#send(next.viewport);
    this.#timer = setTimeout(() => {
      this.#timer = 0;
      if (!this.#isSending) this.#flush();
    }, INTERVAL);
    try {
      await sending;
    } catch {
      // The event stream notices a lost server, and the viewport is reported again once it is back.
      this.#last = '';
    }
    this.#isSending = false;
    if (this.#timer === 0) this.#flush();
  }
}
