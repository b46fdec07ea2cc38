import { number } from './words.js';

/** Most pictures that are selected at once. */
const MOST = 2000;
/** Milliseconds after which a finger that stays selects, and how far it may move meanwhile, in CSS pixels. */
const HOLD = 450;
const STILL = 10;
/** The side of the corner of a cell that selects, in CSS pixels. */
const CORNER = 34;

/**
 * The selected items: by the corner of a cell, by clicks while the bar of the selection is open, by Shift for all
 * between, by dragging from cell to cell, by a finger that stays, and by X. Identifiers stay when the list is revised.
 */
export class Selection {
  #elements;
  #grid;
  #gallery;
  #handlers;
  /** The selected items and their indexes, by identifier. */
  #chosen = new Map();
  #isActive = false;
  #isMarked = false;
  #anchor = 0;
  #drag = null;
  #hold = 0;
  #query = '';
  #change = 0;

  /** `elements`: cells, bar, select. `handlers`: `copy(items)`, `hide(items)`, which returns whether it did, `tell(text)`. */
  constructor(elements, grid, gallery, handlers) {
    this.#elements = elements;
    this.#grid = grid;
    this.#gallery = gallery;
    this.#handlers = handlers;
    const { bar, cells, select } = elements;
    select.addEventListener('click', () => this.#open());
    bar.querySelector('.clear').addEventListener('click', () => this.clear());
    bar.querySelector('.copy').addEventListener('click', () => this.#chosen.size && handlers.copy(this.items));
    bar.querySelector('.hide').addEventListener('click', () => this.hide());
    cells.addEventListener('pointerdown', (event) => this.#press(event));
    cells.addEventListener('pointermove', (event) => this.#move(event));
    for (const type of ['pointerup', 'pointercancel']) addEventListener(type, () => this.#release());
    // Scrolling by a finger would end the drag of one that has stayed.
    cells.addEventListener('touchmove', (event) => this.#drag?.isHeld && event.preventDefault(), { passive: false });
    cells.addEventListener('contextmenu', (event) => this.#drag?.isHeld && event.preventDefault());
    addEventListener('keydown', (event) => {
      if (event.key !== 'Escape' || !this.#isActive || event.target.closest?.('dialog')) return;
      this.clear();
    });
  }

  get isActive() {
    return this.#isActive;
  }

  /** The selected items, with their indexes. */
  get items() {
    return [...this.#chosen.values()].sort((one, other) => one.index - other.index);
  }

  clear() {
    const hadFocus = this.#elements.bar.contains(document.activeElement);
    this.#isActive = false;
    this.#choose(new Map());
    if (hadFocus) this.#elements.select.focus();
  }

  async hide() {
    if (this.#chosen.size === 0 || !(await this.#handlers.hide(this.items.map(({ item }) => item)))) return;
    this.clear();
    this.#grid.focus(Math.min(this.#grid.active, this.#gallery.count - 1));
  }

  /** Results of another query have nothing that is selected. */
  set query(query) {
    if (query !== this.#query && this.#isActive) this.clear();
    this.#query = query;
  }

  /** Whether a click on a cell selects instead of opening. */
  takes(event, cell) {
    if (this.#drag?.hasMoved) return true;
    const { left, top } = cell.element.getBoundingClientRect();
    const isCorner =
      event.pointerType === 'mouse' && event.clientX - left < CORNER && event.clientY - top < CORNER;
    if (event.shiftKey) this.extend(cell.index);
    else if (this.#isActive || isCorner) this.toggle(cell.index);
    else return false;
    return true;
  }

  toggle(index) {
    const item = this.#gallery.items.at(index);
    if (!item) return;
    this.#anchor = index;
    const chosen = new Map(this.#chosen);
    if (!chosen.delete(item.id)) chosen.set(item.id, { item, index });
    this.#choose(chosen);
  }

  /** Selects all from the last one that was chosen alone, or from the active one, to an index. */
  extend(index) {
    if (this.#chosen.size === 0) this.#anchor = this.#grid.active;
    return this.#range(this.#anchor, index, this.#chosen);
  }

  /** Marks the cells that are in the document; called once a frame. */
  mark() {
    if (!this.#isActive && !this.#isMarked) return;
    this.#isMarked = this.#isActive;
    for (const cell of this.#grid.cells()) {
      const isSelected = this.#isActive ? String(this.#chosen.has(cell.item?.id)) : null;
      if (cell.element.ariaSelected !== isSelected) cell.element.ariaSelected = isSelected;
    }
  }

  #open() {
    this.#isActive = true;
    this.#choose(this.#chosen);
    this.#elements.bar.querySelector('button').focus();
  }

  async #range(from, to, base) {
    const [first, last] = [Math.min(from, to), Math.max(from, to)];
    const { items } = this.#gallery;
    this.#change += 1;
    const change = this.#change;
    if (last - first < MOST) await items.load(first, last + 1);
    if (change !== this.#change || items !== this.#gallery.items) return;
    const chosen = new Map(base);
    for (let index = first; index <= last && last - first < MOST; index += 1) {
      const item = items.at(index);
      if (item) chosen.set(item.id, { item, index });
    }
    this.#choose(chosen, last - first >= MOST);
  }

  #choose(chosen, isTooMuch = chosen.size > MOST) {
    if (isTooMuch) {
      this.#handlers.tell(`At most ${number(MOST)} pictures can be selected at once.`);
      return;
    }
    this.#change += 1;
    this.#chosen = chosen;
    if (chosen.size > 0) this.#isActive = true;
    const { bar, cells } = this.#elements;
    bar.hidden = !this.#isActive;
    cells.ariaMultiSelectable = this.#isActive ? 'true' : null;
    bar.querySelector('p').textContent = chosen.size ? `${number(chosen.size)} selected` : 'Select pictures';
    for (const button of bar.querySelectorAll('.copy, .hide')) button.disabled = chosen.size === 0;
    this.mark();
  }

  #press(event) {
    const { cell } = event.target.closest('.cell') ?? {};
    this.#drag = null;
    if (!cell?.item || event.button !== 0 || !event.isPrimary) return;
    const drag = { start: cell.index, x: event.clientX, y: event.clientY, hasMoved: false, isHeld: false, base: null };
    this.#drag = drag;
    drag.isReady = this.#isActive && event.pointerType === 'mouse';
    if (event.pointerType !== 'mouse') {
      this.#hold = setTimeout(() => {
        Object.assign(drag, { isReady: true, isHeld: true, hasMoved: true });
        this.toggle(drag.start);
        drag.base = this.#chosen;
      }, HOLD);
    }
  }

  #move(event) {
    const drag = this.#drag;
    if (!drag || event.buttons === 0) return;
    if (Math.hypot(event.clientX - drag.x, event.clientY - drag.y) > STILL) clearTimeout(this.#hold);
    if (!drag.isReady) return;
    // A finger keeps the cell on which it began as its target.
    const { cell } = document.elementFromPoint(event.clientX, event.clientY)?.closest('.cell') ?? {};
    if (!cell?.item || (cell.index === drag.start && !drag.hasMoved)) return;
    drag.hasMoved = true;
    drag.base ??= this.#chosen;
    this.#range(drag.start, cell.index, drag.base);
  }

  #release() {
    clearTimeout(this.#hold);
    const drag = this.#drag;
    // The click that follows a drag does nothing more.
    if (drag) setTimeout(() => this.#drag === drag && (this.#drag = null));
  }
}
