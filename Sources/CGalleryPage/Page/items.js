import { isCancelled } from './api.js';

/** Items in one request. */
const CHUNK = 100;
/** Items around the window that are requested in advance. */
const MARGIN = 50;
/** Chunks that are kept around the window: more would only grow the heap. */
const KEPT = 8;
/** Milliseconds between requests while the window moves too fast for anything to be read. */
const MOVING_INTERVAL = 120;
/** Milliseconds until a failed request is sent again. */
const RETRY = 1000;

/**
 * The items of one generation of results, fetched in chunks near the window that is on screen. Chunks far from it are
 * dropped, and their requests cancelled.
 */
export class ItemStore {
  count = 0;
  #fetch;
  #changed;
  #chunks = new Map();
  #lastRequest = 0;
  #timer = 0;
  #window = [0, 0];

  /**
   * `fetch(from, count, signal)` gets items; `locate(ids)` returns the index of each, or -1; `changed()` is called when
   * items have arrived.
   */
  constructor(count, fetch, locate, changed) {
    this.count = count;
    this.#fetch = fetch;
    this.locate = locate;
    this.#changed = changed;
  }

  /** The item at an index, or null until it has arrived. */
  at(index) {
    return this.#chunks.get(Math.floor(index / CHUNK))?.items[index % CHUNK] ?? null;
  }

  /** Fetches the missing items of the window from `first` to `last`. */
  setWindow(first, last, isMoving) {
    this.#window = [first, last];
    if (isMoving && performance.now() - this.#lastRequest < MOVING_INTERVAL) return this.#later(MOVING_INTERVAL);
    const [from, to] = this.#span(first - MARGIN, last + MARGIN);
    for (const [number, chunk] of this.#chunks) {
      if (chunk.waiters > 0 || (number >= from && number <= to)) continue;
      chunk.request?.abort();
      chunk.request = null;
      if (number < from - KEPT || number > to + KEPT) this.#chunks.delete(number);
    }
    const [visible, lastVisible] = this.#span(first, last);
    for (let number = visible; number <= lastVisible; number += 1) this.#load(number);
    for (let number = from; number <= to; number += 1) this.#load(number);
  }

  /** The items at indexes `from..<to`, wherever the window moves meanwhile; null if one of them cannot be fetched. */
  async load(from, to) {
    const [first, last] = this.#span(from, to - 1);
    const chunks = [];
    const loads = [];
    for (let number = first; number <= last; number += 1) {
      loads.push(this.#load(number));
      chunks.push(this.#chunks.get(number));
      chunks.at(-1).waiters += 1;
    }
    await Promise.all(loads);
    for (const chunk of chunks) chunk.waiters -= 1;
    const items = chunks.flatMap((chunk) => chunk.items).slice(from - first * CHUNK, to - first * CHUNK);
    return items.length === to - from ? items : null;
  }

  /** Fetches an item once more: what was not known of it when it was listed may be known by now. */
  async renew(index) {
    const [newer] = await this.#fetch(index, 1).catch(() => []);
    const item = this.at(index);
    if (newer && newer.key === item?.key) Object.assign(item, newer);
  }

  /** Cancels all requests: these results are no longer shown. */
  close() {
    clearTimeout(this.#timer);
    for (const chunk of this.#chunks.values()) chunk.request?.abort();
    this.#changed = () => {};
  }

  #span(first, last) {
    return [Math.floor(Math.max(first, 0) / CHUNK), Math.floor(Math.min(last, this.count - 1) / CHUNK)];
  }

  /** Loads a chunk, or the rest of it if items were appended to it. */
  #load(number) {
    const expected = Math.min(CHUNK, this.count - number * CHUNK);
    let chunk = this.#chunks.get(number);
    if (!chunk) {
      chunk = { items: [], request: null, loading: null, waiters: 0 };
      this.#chunks.set(number, chunk);
    }
    if (chunk.items.length >= expected) return Promise.resolve();
    if (!chunk.request) chunk.loading = this.#request(number, chunk, expected);
    return chunk.loading;
  }

  async #request(number, chunk, expected) {
    const request = new AbortController();
    chunk.request = request;
    this.#lastRequest = performance.now();
    const held = chunk.items.length;
    try {
      const items = await this.#fetch(number * CHUNK + held, expected - held, request.signal);
      // Another request may have taken the place of a cancelled one.
      if (chunk.request !== request) return;
      chunk.items.push(...items);
      this.#changed();
    } catch (error) {
      if (!isCancelled(error)) this.#later(RETRY);
    } finally {
      if (chunk.request === request) chunk.request = null;
    }
  }

  #later(delay) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.setWindow(...this.#window, false), delay);
  }
}
