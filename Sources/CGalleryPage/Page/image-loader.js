import { diagnose } from './image-failure.js';

/**
 * Concurrent requests. Browsers open six connections to a host: the event stream takes one, and one is left for items.
 */
const LANES = 4;
/** Milliseconds after which an image lets others go first; doubled each time. */
const PATIENCE = 5000;
const LATENESS = 5;
/** Automatic retries of an image if the server is busy. */
const BUSY_RETRIES = 6;

/**
 * Gives cells their thumbnails, few at a time and in the order of the grid, so that nothing waits behind cells that
 * have left the window. While paused, as in a fling, nothing new is begun.
 */
export class ImageLoader {
  #wanted = [];
  #active = new Set();
  #isPaused = false;

  /** The cells that lack their thumbnail, most urgent first. */
  want(cells, isPaused) {
    this.#wanted = cells;
    this.#isPaused = isPaused;
    this.#pump();
  }

  /** Drops the request of a cell that now shows another item. */
  cancel(cell) {
    if (this.#active.delete(cell)) cell.image.removeAttribute('src');
  }

  #pump() {
    if (this.#isPaused) return;
    const now = performance.now();
    for (const cell of this.#wanted) {
      if (this.#active.size >= LANES) return;
      if (cell.state === 'waiting' && !this.#active.has(cell) && cell.notBefore <= now) this.#load(cell);
    }
  }

  async #load(cell) {
    const { image, url } = cell;
    const isCurrent = () => this.#active.has(cell) && cell.url === url;
    this.#active.add(cell);
    const impatience = setTimeout(() => isCurrent() && this.#yield(cell), PATIENCE * 2 ** cell.attempts);
    const began = performance.now();
    image.src = url;
    try {
      await image.decode();
      if (isCurrent()) cell.show(performance.now() - began);
    } catch {
      if (isCurrent()) await this.#recover(cell, isCurrent);
    }
    clearTimeout(impatience);
    if (isCurrent()) this.#active.delete(cell);
    this.#pump();
  }

  async #recover(cell, isCurrent) {
    const failure = await diagnose(cell.url);
    const { pause } = failure;
    if (!isCurrent()) return;
    cell.image.removeAttribute('src');
    cell.attempts += 1;
    const most = pause === 0 ? 1 : BUSY_RETRIES;
    if (pause === null || cell.attempts > most) cell.fail(failure);
    else this.#postpone(cell, pause);
  }

  #yield(cell) {
    if (!this.#wanted.some((other) => other.state === 'waiting' && !this.#active.has(other))) return;
    this.cancel(cell);
    cell.attempts += 1;
    this.#postpone(cell, 0);
    this.#wanted = [...this.#wanted.filter((other) => other !== cell), cell];
  }

  #postpone(cell, pause) {
    cell.notBefore = performance.now() + pause;
    // Timers may fire a little early by this clock.
    setTimeout(() => this.#pump(), pause + LATENESS);
  }
}
