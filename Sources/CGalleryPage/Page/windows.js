import { imageAddress } from './image-size.js';
import { element } from './words.js';

/** The side of a window in pixels. */
const WINDOW_SIDE = 512;
/** Windows that are requested at once, and the most that are kept besides those on the screen. */
const AT_ONCE = 3;
const MOST = 96;
/** What the server answers again to the same request. */
const MISTAKES = /^4(0[034]|1[35]|22)$/;

/**
 * Windows of an original over its enlarged form, each of at most 512 pixels: all pixels of what is on the screen, while
 * the browser never has those of the whole. For images that the server cannot cut there are none: the first response for
 * an item tells, and its `isCut` keeps it.
 */
export class Windows {
  element = element('div', '', { className: 'windows' });
  #item = null;
  #windows = new Map();
  #wanted = [];
  #loading = 0;
  /** The key of the item of which the first window is requested. */
  #asked = null;
  /** Hears that the item has no windows. */
  refused = () => {};

  /** Removes all windows; the next ones are those of an item. */
  clear(item) {
    this.#item = item;
    this.#wanted = [];
    for (const address of [...this.#windows.keys()]) this.#remove(address);
  }

  /** The same image has come as another item. */
  renew(item) {
    item.isCut ??= this.#item?.isCut ?? undefined;
    this.#item = item;
  }

  /**
   * Sizes the whole to a width in CSS pixels. Windows have places in pixels of the original, which are whole numbers:
   * shares of the width would leave gaps between them when they are enlarged.
   */
  fit(width) {
    this.element.style.scale = width / this.#item.width;
  }

  /**
   * Requests what is missing of a part of the image, from the middle on. `left`, `top`, `right`, `bottom`: pixels of the
   * original; `reduction`: how many of them, a power of two, become one.
   */
  show({ left, top, right, bottom }, reduction) {
    const { width, height, key } = this.#item;
    const step = WINDOW_SIDE * reduction;
    const [x, y] = [(left + right) / 2, (top + bottom) / 2];
    this.#wanted = [];
    for (let row = Math.max(0, Math.floor(top / step)); row * step < Math.min(bottom, height); row += 1) {
      for (let column = Math.max(0, Math.floor(left / step)); column * step < Math.min(right, width); column += 1) {
        const across = Math.min(step, width - column * step);
        const down = Math.min(step, height - row * step);
        const reduced = [across, down].map((length) => Math.max(1, Math.round(length / reduction))).join('x');
        const address = imageAddress(key, `${across}x${down}+${column * step}+${row * step}`, reduced);
        const distance = Math.hypot((column + 0.5) * step - x, (row + 0.5) * step - y);
        this.#wanted.push({ address, across, down, left: column * step, top: row * step, distance });
      }
    }
    this.#wanted.sort((one, other) => one.distance - other.distance);
    // The oldest ones go that are not on the screen.
    const addresses = new Set(this.#wanted.map(({ address }) => address));
    const spare = [...this.#windows.keys()].filter((address) => !addresses.has(address));
    for (const address of spare.slice(0, Math.max(0, this.#windows.size - MOST))) this.#remove(address);
    this.#pump();
  }

  #pump() {
    const { isCut } = this.#item;
    if (isCut === undefined && this.#wanted.length > 0) this.#ask(this.#item, this.#wanted[0].address);
    while (isCut && this.#loading < AT_ONCE && this.#wanted.length > 0) {
      const next = this.#wanted.shift();
      if (!this.#windows.has(next.address)) this.#load(next);
    }
  }

  /** An image does not tell why it fails: the first window is fetched, and then in the browser's cache. */
  async #ask({ key, download }, address) {
    if (this.#asked === key) return;
    this.#asked = key;
    const response = download ? await fetch(address).catch(() => null) : { status: 204 };
    await response?.blob?.().catch(() => null);
    this.#asked = null;
    const item = this.#item;
    if (item?.key !== key) return;
    // One that failed for a passing reason is requested again with the next ones.
    if (response?.status === 200) item.isCut = true;
    else if (response?.status === 204) item.isCut = false;
    else if (MISTAKES.test(response?.status)) item.isCut = null;
    else return;
    this.#pump();
    if (item.isCut === false) this.refused(item);
  }

  async #load({ address, across, down, left, top }) {
    const image = element('img', '', { alt: '', draggable: false });
    image.style.cssText = `left: ${left}px; top: ${top}px; width: ${across}px; height: ${down}px`;
    this.#windows.set(address, image);
    this.#loading += 1;
    image.src = address;
    const isCurrent = () => this.#windows.get(address) === image;
    try {
      await image.decode();
      if (isCurrent()) this.element.append(image);
    } catch {
      if (isCurrent()) this.#windows.delete(address);
    }
    this.#loading -= 1;
    this.#pump();
  }

  #remove(address) {
    const image = this.#windows.get(address);
    this.#windows.delete(address);
    image.remove();
    // One that is still loading is not wanted any more.
    if (!image.complete) image.removeAttribute('src');
  }
}
