import { imageAddress } from './image-size.js';
import { drawPlaceholder, setPlaceholder } from './placeholder.js';
import { element, label } from './words.js';

/** An image that is decoded sooner than this came from a cache, and is shown without a fade; milliseconds. */
const AT_ONCE = 60;

/**
 * One cell of the grid, used again and again for other items: a placeholder, over which the thumbnail fades in.
 * States: `empty` (no item yet), `waiting` (for its thumbnail), `shown`, `failed`.
 */
export class Cell {
  index = -1;
  item = null;
  url = null;
  state = 'empty';
  /** Attempts to load the thumbnail so far, and the time of the next one, by `performance.now()`. */
  attempts = 0;
  notBefore = 0;
  /** Whether the thumbnail has failed for good. */
  isFinal = false;
  #width = 0;

  constructor() {
    const properties = { className: 'cell', role: 'gridcell', tabIndex: -1, ariaLabel: 'Loading', cell: this };
    this.element = element('div', '', properties);
    this.image = element('img', '', { alt: '', draggable: false });
    this.element.append(this.image);
    this.#setState('empty');
  }

  /** Shows an item, or a plain cell for null. `form`: box and fit of its thumbnail. */
  bind(index, item, form, loader) {
    this.index = index;
    const url = item && imageAddress(item.key, form.box, form.fit);
    if (url === this.url && item === this.item) return;
    const isSameForm = url !== null && url === this.url;
    const isSameImage = url !== null && item.key === this.item?.key;
    if (isSameImage) item.placeholder ??= this.item.placeholder;
    this.item = item;
    if (isSameForm) {
      // What has failed for a passing reason, such as a server that had just begun, is there in newer results.
      if (this.state === 'failed' && !this.isFinal) this.retry();
      return;
    }
    this.element.ariaLabel = item ? label(item) : 'Loading';
    loader.cancel(this);
    this.url = url;
    this.attempts = 0;
    this.notBefore = 0;
    if (isSameImage && this.state === 'shown') {
      // Another form of the same image: the old one stays until the new one has loaded.
      this.state = 'waiting';
      return;
    }
    this.image.removeAttribute('src');
    setPlaceholder(this.element, item);
    this.#setState(item ? 'waiting' : 'empty');
  }

  /** Whether the ThumbHash of the item has yet to be drawn. */
  get lacksPlaceholder() {
    return this.item !== null && this.item.placeholder === undefined && this.state !== 'shown';
  }

  drawPlaceholder() {
    drawPlaceholder(this.element, this.item);
  }

  /** Width in CSS pixels, for rows whose cells differ. */
  setWidth(width) {
    if (this.#width === width) return;
    this.#width = width;
    this.element.style.width = `${width}px`;
  }

  show(milliseconds) {
    this.element.classList.toggle('at-once', milliseconds < AT_ONCE);
    this.#setState('shown');
  }

  /** Says in words what is wrong; `failure` is from `diagnose`. */
  fail({ what, why, isFinal }) {
    this.isFinal = isFinal;
    const { dataset } = this.element;
    dataset.what = what;
    dataset.why = isFinal ? why : `${why} Press to try again.`;
    this.element.ariaLabel = `${label(this.item)}. ${what}. ${dataset.why}`;
    this.#setState('failed');
  }

  retry() {
    this.element.ariaLabel = label(this.item);
    this.attempts = 0;
    this.notBefore = 0;
    this.#setState('waiting');
  }

  #setState(state) {
    this.state = state;
    this.element.dataset.state = state;
  }
}

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
