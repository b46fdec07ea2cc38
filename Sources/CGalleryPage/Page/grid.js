import { GridWindow } from './grid-window.js';
import { thumbnailBox } from './image-size.js';
import { ImageLoader } from './image-loader.js';
import { ScrollSpace } from './scroll-space.js';

/** Most cells at a time: with two elements each, the document stays below 300. */
const MOST_CELLS = 78;
/** Rows that are kept ready beyond the edges of the viewport, in the order of their use of the budget. */
const AHEAD_THEN_BEHIND = [1, -1, 1, -1, 1];
/** Viewports a second above which images would leave before they have loaded. */
const FLING = 2.5;
/** Milliseconds without a scroll that are a rest. */
const REST = 120;
/** Milliseconds for placeholders in one frame. */
const PLACEHOLDER_BUDGET = 2;
/** Scroll positions off by less than this many CSS pixels are left as they are. */
const SLACK = 2000;
/** Height of the strip after the last row, where the next page is announced. */
const FOOT = 72;
/** Rows are placed relative to a base that is a multiple of this, because fractions get lost far from the origin. */
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
  /** The item with the keyboard focus. */
  active = 0;
  /** Box and fit of the thumbnails. */
  form = { box: '', fit: 'cover' };
  viewportHeight = 1;
  loader = new ImageLoader();
  #elements;
  #handlers;
  #space = new ScrollSpace();
  #window;
  #top = 0;
  /** Height of what stands above the first row and scrolls with it. */
  #lead = 0;
  #isScheduled = false;
  #tabStop = null;
  #wantsFocus = false;
  #isForward = true;
  #isFling = false;
  #wasFling = false;
  #lastFrame = 0;
  #restTimer = 0;

  /** `elements`: space, grid, headers. `handlers`: `moved(isFling, isMoving)` after each frame. */
  constructor(elements, handlers) {
    this.#elements = elements;
    this.#handlers = handlers;
    this.#window = new GridWindow(elements, this.loader);
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

  /** Shows a list from an offset: `items` has what is known of the items that `layout` places. */
  show(layout, items, offset) {
    this.layout = layout;
    this.items = items;
    const { width, height, fit } = layout.cell;
    this.form = { box: thumbnailBox(Math.max(width, height)), fit };
    this.#elements.grid.style.setProperty('--spacing', `${layout.spacing}px`);
    this.#elements.grid.ariaRowCount = layout.rowCount;
    if (layout.columns) this.#elements.grid.ariaColCount = layout.columns;
    else this.#elements.grid.removeAttribute('aria-colcount');
    this.measure();
    this.#window.dissolve();
    this.#window.content = { layout, items, form: this.form };
    this.jumpTo(offset);
    // At once, because cells with the same images keep them.
    this.#showWindow(this.#space.offset);
    this.#window.settle();
  }

  /** Takes a layout in which items were only appended. */
  append(layout) {
    this.layout = layout;
    this.#elements.grid.ariaRowCount = layout.rowCount;
    this.measure();
    this.#window.content.layout = layout;
    this.refresh();
  }

  /** Reads the sizes of the viewport and sets that of the scrolled element. */
  measure() {
    const { offsetTop, parentElement } = this.#elements.space;
    this.#top = parentElement.offsetTop;
    this.#lead = offsetTop - this.#top;
    this.viewportHeight = Math.max(innerHeight - this.#top, 1);
    this.#space.resize((this.layout?.height ?? 0) + FOOT, this.viewportHeight);
    this.#elements.space.style.height = `${this.#space.height}px`;
  }

  /** The scroll position, counted from the first row. */
  get #position() {
    return Math.max(scrollY - this.#lead, 0);
  }

  /** Jumps to an offset. */
  jumpTo(offset) {
    const position = this.#space.positionFor(offset);
    scrollTo({ top: position > 0 ? position + this.#lead : 0, behavior: 'instant' });
    this.#space.place(offset, this.#position);
    this.#lastFrame = 0;
    this.invalidate();
  }

  /** Jumps to an offset while the scrubber is dragged: as in a fling, images wait until it stops. */
  scrub(offset) {
    this.jumpTo(offset);
    this.#isFling = true;
    clearTimeout(this.#restTimer);
    this.#restTimer = setTimeout(() => this.#rested(), REST);
  }

  /** Scrolls as little as possible to show a whole item; `start` puts its row at the top. */
  reveal(index, alignment = 'nearest') {
    const { top, height, heads } = this.layout.row(this.layout.rowOf(index));
    const start = heads >= 0 ? this.layout.sectionTop(heads) : top;
    const margin = this.layout.spacing;
    if (alignment === 'start' || start < this.offset) this.jumpTo(start === 0 ? 0 : start - margin);
    else if (top + height > this.offset + this.viewportHeight) this.jumpTo(top + height + margin - this.viewportHeight);
  }

  /** Updates items that have arrived since, in the next frame. */
  refresh() {
    if (!this.layout) return;
    this.#window.refresh();
    this.invalidate();
  }

  /** Requests thumbnails on screen again that have failed, or wait for a connection that may be dead. */
  retryAll() {
    for (const cell of this.#window.cells()) {
      this.loader.cancel(cell);
      if (cell.state === 'failed') cell.retry();
    }
    this.#window.isChanged = true;
    this.invalidate();
  }

  retry(cell) {
    cell.retry();
    this.#window.isChanged = true;
    this.invalidate();
  }

  /** The cell of an item, if it is in the document. */
  cellOf(index) {
    return index < (this.layout?.count ?? 0) ? this.#window.cell(this.layout.rowOf(index), index) : undefined;
  }

  /** The cells that are in the document. */
  cells() {
    return this.#window.cells();
  }

  /** Makes an item the active one, without moving the focus. */
  setActive(index) {
    this.active = index;
    this.invalidate();
  }

  /** Brings an item into view and the focus to its cell. */
  focus(index) {
    this.active = index;
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

  /** Corrects the scroll position, which must not change while the finger or the wheel still moves it. */
  #settle() {
    if (this.#space.hasDrifted(SLACK)) this.jumpTo(this.offset);
  }

  #frame(time) {
    this.#isScheduled = false;
    if (!this.layout) return;
    const before = this.offset;
    const offset = this.#space.scrolled(this.#position);
    const elapsed = this.#lastFrame ? time - this.#lastFrame : 0;
    this.#lastFrame = time;
    if (offset !== before) this.#isForward = offset > before;
    const wasFling = this.#wasFling;
    if (elapsed > 0 && this.#restTimer) {
      const speed = (Math.abs(offset - before) / elapsed) * 1000;
      this.#isFling = speed > FLING * this.viewportHeight;
    }
    this.#wasFling = this.#isFling;
    this.#showWindow(offset);
    this.#setTabStop();
    if (this.#window.isChanged || wasFling !== this.#isFling) {
      this.#window.isChanged = false;
      this.#drawPlaceholders();
      this.loader.want(this.#wanted(), this.#isFling);
    }
    this.#handlers.moved(this.#isFling, this.#restTimer !== 0);
  }

  /** Puts the rows at an offset into the document. */
  #showWindow(offset) {
    const { layout } = this;
    if (layout.rowCount === 0) {
      this.#window.dissolve();
      this.#window.settle();
      this.first = 0;
      this.last = -1;
      return;
    }
    let from = layout.rowAt(offset + layout.spacing + 1);
    let to = layout.rowAt(offset + this.viewportHeight);
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
    const top = Math.floor((offset - this.#space.shift) / BASE) * BASE;
    this.#window.setBase(this.#space.shift + top, top);
    this.#window.place(from, to);
  }

  /** One cell takes part in the tab order: the active one, or else the first on screen. */
  #setTabStop() {
    const active = this.cellOf(this.active);
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

  /** Draws placeholders on screen within the budget of this frame. */
  #drawPlaceholders() {
    const end = performance.now() + PLACEHOLDER_BUDGET;
    for (const cell of this.#window.cells()) {
      if (!cell.lacksPlaceholder) continue;
      if (performance.now() > end) {
        this.#window.isChanged = true;
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
    return [...this.#window.cells()].filter((cell) => cell.state === 'waiting').sort((a, b) => urgency(a) - urgency(b));
  }
}
