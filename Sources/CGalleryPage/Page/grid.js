import { CellPool } from './cell-pool.js';
import { GridRow } from './grid-row.js';
import { thumbnailBox } from './image-size.js';
import { ImageLoader } from './image-loader.js';
import { ScrollSpace } from './scroll-space.js';

/** Most cells at a time: with two elements each, the document stays below 300. */
const MOST_CELLS = 78;
/** Rows that are kept ready beyond the edges of the viewport, in the order in which the budget goes to them. */
const AHEAD_THEN_BEHIND = [1, -1, 1, -1, 1];
/** Faster than so many viewports a second, images would have left before they came. */
const FLING = 2.5;
/** Milliseconds without a scroll that are a rest. */
const REST = 120;
/** Milliseconds that may go to placeholders in one frame. */
const PLACEHOLDER_BUDGET = 2;
/** Scroll positions off by less than this many CSS pixels are left as they are. */
const SLACK = 2000;
/** Height of the strip after the last row, where the next page is announced. */
const FOOT = 72;
/** Rows are placed relative to a base that is a multiple of this, as fractions get lost far from the origin. */
const BASE = 65_536;

/**
 * The grid of thumbnails: only rows near the viewport are in the document, and rows that leave it are used again.
 * Lengths are CSS pixels; the offset is the place in the whole content that is at the top of the viewport.
 */
export class Grid {
  layout = null;
  items = null;
  first = 0;
  last = -1;
  #elements;
  #handlers;
  #space = new ScrollSpace();
  #loader = new ImageLoader();
  #pool = new CellPool();
  #rows = new Map();
  #spare = [];
  #headers = new Map();
  #form = { box: '', fit: 'cover' };
  #base = 0;
  #top = 0;
  #viewport = 1;
  #isScheduled = false;
  #active = 0;
  #tabStop = null;
  #wantsFocus = false;
  #isForward = true;
  #isFling = false;
  #wasFling = false;
  /** Whether cells show something else than in the last frame. */
  #isChanged = false;
  #lastFrame = 0;
  #restTimer = 0;

  /** `elements`: space, grid, headers. `handlers`: `moved(isMoving)` after each frame that shows something else. */
  constructor(elements, handlers) {
    this.#elements = elements;
    this.#handlers = handlers;
    addEventListener('scroll', () => this.#scrolled(), { passive: true });
    addEventListener('scrollend', () => this.#settle());
  }

  get offset() {
    return this.#space.offset;
  }

  get end() {
    return this.#space.end;
  }

  /** Width that the rows have. */
  get width() {
    return this.#elements.space.clientWidth;
  }

  get viewportHeight() {
    return this.#viewport;
  }

  /** Box and fit of the thumbnails. */
  get form() {
    return this.#form;
  }

  /** Shows a list from an offset: `items` has what is known of the items that `layout` places. */
  show(layout, items, offset) {
    this.layout = layout;
    this.items = items;
    const { width, height, fit } = layout.cell;
    this.#form = { box: thumbnailBox(Math.max(width, height)), fit };
    this.#elements.grid.style.setProperty('--spacing', `${layout.spacing}px`);
    this.#elements.grid.setAttribute('aria-rowcount', layout.rowCount);
    if (layout.columns) this.#elements.grid.setAttribute('aria-colcount', layout.columns);
    else this.#elements.grid.removeAttribute('aria-colcount');
    this.measure();
    this.#dissolve();
    this.jumpTo(offset);
    // At once, as cells that show the same images go on to show them.
    this.#showWindow(this.#space.offset);
    this.#pool.settle(this.#loader);
  }

  /** Takes a layout in which items were only appended. */
  append(layout) {
    this.layout = layout;
    this.#elements.grid.setAttribute('aria-rowcount', layout.rowCount);
    this.measure();
    for (const number of this.#rows.keys()) if (number < layout.rowCount) this.#bind(number);
    this.invalidate();
  }

  /** Reads the sizes of the viewport and sets that of the scrolled element. */
  measure() {
    this.#top = this.#elements.space.offsetTop;
    this.#viewport = Math.max(innerHeight - this.#top, 1);
    this.#space.resize((this.layout?.height ?? 0) + FOOT, this.#viewport);
    this.#elements.space.style.height = `${this.#space.height}px`;
  }

  /** Goes to an offset without a way between. */
  jumpTo(offset) {
    const position = this.#space.positionFor(offset);
    scrollTo({ top: position, behavior: 'instant' });
    this.#space.place(offset, scrollY);
    this.#lastFrame = 0;
    this.invalidate();
  }

  /** Goes to an offset while the scrubber is dragged: as in a fling, images wait until it stays. */
  scrub(offset) {
    this.jumpTo(offset);
    this.#isFling = true;
    clearTimeout(this.#restTimer);
    this.#restTimer = setTimeout(() => this.#rested(), REST);
  }

  /** Scrolls as little as shows an item whole; `start` puts its row at the top. */
  reveal(index, alignment = 'nearest') {
    const { top, height, heads } = this.layout.row(this.layout.rowOf(index));
    const start = heads >= 0 ? this.layout.sectionTop(heads) : top;
    const margin = this.layout.spacing;
    if (alignment === 'start' || start < this.offset) this.jumpTo(start === 0 ? 0 : start - margin);
    else if (top + height > this.offset + this.#viewport) this.jumpTo(top + height + margin - this.#viewport);
  }

  /** Looks again at items that have come since, in the next frame. */
  refresh() {
    for (const number of this.#rows.keys()) this.#bind(number);
    this.invalidate();
  }

  /** Tries all failed thumbnails on screen again. */
  retryFailed() {
    for (const cell of this.#cells()) if (cell.state === 'failed') cell.retry();
    this.#isChanged = true;
    this.invalidate();
  }

  retry(cell) {
    cell.retry();
    this.#isChanged = true;
    this.invalidate();
  }

  /** The cell of an item, if it is in the document. */
  cellOf(index) {
    return index < (this.layout?.count ?? 0) ? this.#rows.get(this.layout.rowOf(index))?.cellOf(index) : undefined;
  }

  /** The item that the keyboard is at. */
  get active() {
    return this.#active;
  }

  /** Makes an item the one that the keyboard is at, without moving the focus. */
  setActive(index) {
    this.#active = index;
    this.invalidate();
  }

  /** Brings an item into view and the focus to its cell. */
  focus(index) {
    this.#active = index;
    this.#wantsFocus = true;
    this.reveal(index);
    this.invalidate();
  }

  invalidate() {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    requestAnimationFrame((time) => this.#frame(time));
  }

  #scrolled() {
    clearTimeout(this.#restTimer);
    this.#restTimer = setTimeout(() => this.#rested(), REST);
    this.invalidate();
  }

  #rested() {
    this.#restTimer = 0;
    this.#isFling = false;
    if (!('onscrollend' in window)) this.#settle();
    this.invalidate();
  }

  /** Mends the scroll position, which must not be touched while the finger or the wheel still moves it. */
  #settle() {
    if (this.#space.hasDrifted(SLACK)) this.jumpTo(this.offset);
  }

  #frame(time) {
    this.#isScheduled = false;
    if (!this.layout) return;
    const before = this.offset;
    const offset = this.#space.scrolled(scrollY);
    const elapsed = this.#lastFrame ? time - this.#lastFrame : 0;
    this.#lastFrame = time;
    if (offset !== before) this.#isForward = offset > before;
    const wasFling = this.#wasFling;
    if (elapsed > 0 && this.#restTimer) {
      const speed = (Math.abs(offset - before) / elapsed) * 1000;
      this.#isFling = speed > FLING * this.#viewport;
    }
    this.#wasFling = this.#isFling;
    this.#showWindow(offset);
    this.#setTabStop();
    if (this.#isChanged || wasFling !== this.#isFling) {
      this.#isChanged = false;
      this.#drawPlaceholders();
      this.#loader.want(this.#wanted(), this.#isFling);
    }
    this.#handlers.moved(this.#isFling, this.#restTimer !== 0);
  }

  /** Puts the rows at an offset into the document. */
  #showWindow(offset) {
    const { layout } = this;
    if (layout.rowCount === 0) {
      this.#dissolve();
      this.#pool.settle(this.#loader);
      this.first = 0;
      this.last = -1;
      return;
    }
    let from = layout.rowAt(offset + layout.spacing + 1);
    let to = layout.rowAt(offset + this.#viewport);
    this.first = layout.row(from).first;
    const end = layout.row(to);
    this.last = end.first + end.count - 1;
    let budget = MOST_CELLS - (this.last - this.first + 1);
    for (const step of AHEAD_THEN_BEHIND) {
      const next = (step > 0) === this.#isForward ? to + 1 : from - 1;
      if (next < 0 || next >= layout.rowCount) continue;
      budget -= layout.row(next).count;
      if (budget < 0) break;
      from = Math.min(from, next);
      to = Math.max(to, next);
    }
    this.#setBase(offset);
    this.#place(from, to);
    this.#placeHeaders(from, to);
  }

  #setBase(offset) {
    const base = Math.floor((offset - this.#space.shift) / BASE) * BASE;
    const shift = this.#space.shift + base;
    if (shift === this.#base) return;
    this.#base = shift;
    this.#elements.grid.style.top = `${base}px`;
    this.#elements.headers.style.top = `${base}px`;
    for (const row of this.#rows.values()) row.move(shift);
    for (const header of this.#headers.values()) this.#moveHeader(header);
  }

  #place(from, to) {
    const { grid } = this.#elements;
    if (this.#rows.size === to - from + 1 && this.#rows.has(from) && this.#rows.has(to)) return;
    for (const [number, row] of this.#rows) {
      if (number >= from && number <= to) continue;
      this.#rows.delete(number);
      this.#spare.push(row);
    }
    let lowest = Infinity;
    for (const number of this.#rows.keys()) lowest = Math.min(lowest, number);
    for (let number = Math.min(lowest, to + 1) - 1; number >= from; number -= 1) {
      grid.prepend(this.#take(number).element);
    }
    for (let number = from; number <= to; number += 1) {
      if (!this.#rows.has(number)) grid.append(this.#take(number).element);
    }
    for (const row of this.#spare) this.#leave(row);
  }

  #take(number) {
    const row = this.#spare.pop() ?? new GridRow();
    if (row.element.contains(document.activeElement)) this.#elements.grid.focus({ preventScroll: true });
    this.#rows.set(number, row);
    this.#bind(number);
    return row;
  }

  #bind(number) {
    this.#isChanged = true;
    this.#rows.get(number).bind(number, {
      layout: this.layout,
      items: this.items,
      form: this.#form,
      base: this.#base,
      loader: this.#loader,
      pool: this.#pool,
    });
  }

  /** A row that is not needed stays ready outside of the document. */
  #leave(row) {
    if (!row.element.isConnected) return;
    if (row.element.contains(document.activeElement)) this.#elements.grid.focus({ preventScroll: true });
    row.clear(this.#loader);
    row.element.remove();
  }

  /** Takes all rows out of the document, with cells that can be found by their image. */
  #dissolve() {
    const { grid } = this.#elements;
    if (grid.contains(document.activeElement)) grid.focus({ preventScroll: true });
    for (const row of this.#rows.values()) {
      row.dissolve(this.#pool);
      row.element.remove();
      this.#spare.push(row);
    }
    this.#rows.clear();
    for (const header of this.#headers.values()) header.element.remove();
    this.#headers.clear();
    this.#tabStop = null;
  }

  #placeHeaders(from, to) {
    const shown = new Set();
    for (let number = from; number <= to; number += 1) {
      const section = this.layout.row(number).heads;
      if (section < 0) continue;
      shown.add(section);
      if (this.#headers.has(section)) continue;
      const element = document.createElement('h2');
      element.textContent = this.layout.sections.title(section);
      const header = { element, top: this.layout.sectionTop(section) };
      this.#headers.set(section, header);
      this.#moveHeader(header);
      this.#elements.headers.append(element);
    }
    for (const [section, { element }] of this.#headers) {
      if (shown.has(section)) continue;
      element.remove();
      this.#headers.delete(section);
    }
  }

  #moveHeader({ element, top }) {
    element.style.transform = `translateY(${top - this.#base}px)`;
  }

  /** One cell takes part in the tab order: the active one, or else the first on screen. */
  #setTabStop() {
    const active = this.cellOf(this.#active);
    const cell = active ?? this.cellOf(this.first) ?? null;
    if (cell !== this.#tabStop) {
      if (this.#tabStop) this.#tabStop.element.tabIndex = -1;
      if (cell) cell.element.tabIndex = 0;
      this.#tabStop = cell;
    }
    // The focus stays with the grid while the active cell is out of the window, and returns to it.
    if (active && (this.#wantsFocus || document.activeElement === this.#elements.grid)) {
      this.#wantsFocus = false;
      active.element.focus({ preventScroll: true });
    }
  }

  *#cells() {
    for (const row of this.#rows.values()) yield* row.cells;
  }

  /** Placeholders of what is on screen, as far as the budget of this frame goes. */
  #drawPlaceholders() {
    const end = performance.now() + PLACEHOLDER_BUDGET;
    for (const cell of this.#cells()) {
      if (!cell.lacksPlaceholder) continue;
      if (performance.now() > end) {
        this.#isChanged = true;
        this.invalidate();
        return;
      }
      cell.drawPlaceholder();
    }
  }

  /** Cells without their thumbnail: those on screen from the top, then those in the direction of the scroll. */
  #wanted() {
    const urgency = ({ index }) => {
      if (index < this.first) return (this.first - index) * 2 + (this.#isForward ? MOST_CELLS : 0) + MOST_CELLS;
      if (index > this.last) return (index - this.last) * 2 + (this.#isForward ? 0 : MOST_CELLS) + MOST_CELLS;
      return index - this.first;
    };
    return [...this.#cells()].filter((cell) => cell.state === 'waiting').sort((a, b) => urgency(a) - urgency(b));
  }
}
