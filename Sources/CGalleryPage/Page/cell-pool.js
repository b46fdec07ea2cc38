import { Cell } from './cell.js';

/**
 * Cells that are not in the document. Cells of the last layout are found by the key of their image, so that an image
 * that stays on screen is not loaded again.
 */
export class CellPool {
  #free = [];
  #kept = new Map();

  /** A cell for an image, or any cell. */
  take(key) {
    const kept = key && this.#kept.get(key);
    if (kept) {
      this.#kept.delete(key);
      return kept;
    }
    return this.#free.pop() ?? new Cell();
  }

  /** Keeps a cell with what it shows. */
  keep(cell) {
    cell.element.remove();
    const key = cell.item?.key;
    if (key && !this.#kept.has(key)) this.#kept.set(key, cell);
    else this.#free.push(cell);
  }

  /** Takes back a cell, and drops its request. */
  give(cell, loader) {
    cell.element.remove();
    cell.bind(-1, null, null, loader);
    this.#free.push(cell);
  }

  /** Ends the time in which cells are found by their image. */
  settle(loader) {
    for (const cell of this.#kept.values()) this.give(cell, loader);
    this.#kept.clear();
  }
}
