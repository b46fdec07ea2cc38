import { cover } from './address.js';
import { gridKey } from './keyboard.js';
import { number } from './words.js';

/** Most pictures that are selected at once. */
const MOST = 2000;
/** Milliseconds after which a finger that stays selects, and how far it may move meanwhile, in CSS pixels. */
const HOLD = 450;
const STILL = 10;
/** Milliseconds from the end of a touch to its click, at most. */
const LATE = 100;
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
  /** Whether the list is selected as a whole: it has more than can be chosen one by one. */
  isAll = false;
  /** Tells the history that the selection has ended. */
  #ended = null;
  #isMarked = false;
  /** Where a range begins: an index, and the identifier of the item that was chosen there. */
  #anchor = { id: null, index: 0 };
  #drag = null;
  #hold = 0;
  /** The results in which the selected items were found last. */
  #scope = {};
  #change = 0;
  /** Resolves when the selected items have been found in changed results. */
  #followed = Promise.resolve();

  /**
   * `elements`: cells, bar, select. `handlers`: `share(items)` and `download(items)`, possibly of none,
   * `hide(items)`, which returns whether it did, `tell(text)`.
   */
  constructor(elements, grid, gallery, handlers) {
    this.#elements = elements;
    this.#grid = grid;
    this.#gallery = gallery;
    this.#handlers = handlers;
    const { bar, cells, select } = elements;
    select.addEventListener('click', () => this.#open());
    bar.querySelector('.clear').addEventListener('click', () => this.clear());
    for (const name of ['share', 'download']) {
      bar.querySelector(`.${name}`).addEventListener('click', async () => {
        await this.#followed;
        handlers[name](this.items);
      });
    }
    bar.querySelector('.all').addEventListener('click', () => this.#selectAll());
    bar.querySelector('.hide').addEventListener('click', () => this.hide());
    cells.addEventListener('pointerdown', (event) => this.#press(event));
    cells.addEventListener('pointermove', (event) => this.#move(event));
    for (const type of ['pointerup', 'pointercancel']) addEventListener(type, () => this.#release());
    // Scrolling by a finger would end the drag of one that has stayed. Safari ignores a listener that is added then.
    cells.addEventListener('touchmove', (event) => this.#drag?.isHeld && event.preventDefault(), { passive: false });
    cells.addEventListener('contextmenu', (event) => this.#drag?.isHeld && event.preventDefault());
    addEventListener('keydown', (event) => {
      if (this.#isActive && gridKey(event) === 'Escape') this.clear();
      // The grid has its own, for the cell that has the focus.
      if (this.#isActive && gridKey(event) === 'Delete' && !event.defaultPrevented) this.hide();
      const { key, ctrlKey, metaKey, target } = event;
      if (!(ctrlKey || metaKey) || gridKey({ key, target }) !== 'a' || !this.#isOffered) return;
      event.preventDefault();
      this.#selectAll();
    });
  }

  /** The selected items, with their indexes. */
  get items() {
    return [...this.#chosen.values()].sort((one, other) => one.index - other.index);
  }

  /** Whether this page selects: not those of links. */
  get #isOffered() {
    return this.#elements.select.checkVisibility();
  }

  clear() {
    const hadFocus = this.#elements.bar.contains(document.activeElement);
    this.#isActive = false;
    this.#choose(new Map());
    this.#ended?.();
    this.#ended = null;
    if (hadFocus) this.#elements.select.focus();
  }

  async hide() {
    await this.#followed;
    if (this.#chosen.size === 0 || !(await this.#handlers.hide(this.items.map(({ item }) => item)))) return;
    this.clear();
    if (this.#gallery.count > 0) this.#grid.focus(Math.min(this.#grid.active, this.#gallery.count - 1));
  }

  /**
   * Finds the selected items in the changed results that the gallery now has, and drops those that are gone. Those that
   * other results do not have stay selected.
   */
  follow() {
    if (this.#drag) this.#drag.isReady = false;
    this.#followed = this.#follow(this.#gallery.items);
  }

  async #follow(items) {
    const former = new Map(this.items.map(({ item, index }) => [item.id, index]));
    if (this.#gallery.isSkeleton) return;
    const { query, album = '' } = this.#gallery.snapshot;
    const isElsewhere = query !== this.#scope.query || album !== this.#scope.album;
    if (this.#anchor.id !== null) former.set(this.#anchor.id, this.#anchor.index);
    const ids = [...former.keys()];
    // What cannot be looked up stays.
    const found = await (ids.length ? items.locate(ids).catch(() => null) : []);
    if (!found || items !== this.#gallery.items) return;
    this.#scope = { query, album };
    const places = new Map(ids.map((id, row) => [id, found[row]]));
    const chosen = new Map(this.#chosen);
    for (const [id, index] of places) {
      const entry = chosen.get(id);
      if (!entry) continue;
      if (index >= 0) chosen.set(id, { item: entry.item, index });
      else if (isElsewhere) chosen.set(id, { ...entry, isAway: true });
      else if (!entry.isAway) chosen.delete(id);
    }
    const { id, index } = this.#anchor;
    this.#anchor = places.get(id) >= 0 ? { id, index: places.get(id) } : { id: null, index };
    // Of other results all are others.
    this.#choose(chosen, this.isAll && !isElsewhere);
  }

  /** Whether a click on a cell selects instead of opening. */
  takes(event, cell) {
    if (this.#drag?.hasMoved) return true;
    if (!this.#isOffered) return false;
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
    if (!item || !this.#isOffered) return;
    this.#anchor = { id: item.id, index };
    const chosen = new Map(this.#chosen);
    if (!chosen.delete(item.id)) chosen.set(item.id, { item, index });
    this.#choose(chosen);
  }

  /** Selects all from the last one that was chosen alone, or from the active one, to an index. */
  async extend(index) {
    if (!this.#isOffered) return;
    if (this.#chosen.size === 0) this.#anchor = { id: null, index: this.#grid.active };
    await this.#followed;
    await this.#range(this.#anchor.index, index, this.#chosen);
  }

  /** Marks the cells that are in the document; called once a frame. */
  mark() {
    if (!this.#isActive && !this.#isMarked) return;
    this.#isMarked = this.#isActive;
    for (const cell of this.#grid.cells()) {
      const isSelected = this.#isActive ? String(this.isAll || this.#chosen.has(cell.item?.id)) : null;
      if (cell.element.ariaSelected !== isSelected) cell.element.ariaSelected = isSelected;
    }
  }

  #open() {
    this.#isActive = true;
    this.#choose(this.#chosen);
    this.#elements.bar.querySelector('button').focus();
  }

  async #selectAll() {
    const { count } = this.#gallery;
    if (count > MOST) this.#choose(new Map(), true);
    else if (count > 0) await this.#range(0, count - 1, this.#chosen);
  }

  async #range(from, to, base) {
    const [first, last] = [Math.min(from, to), Math.max(from, to)];
    const { items } = this.#gallery;
    this.#change += 1;
    const change = this.#change;
    if (last - first >= MOST) return this.#refuse();
    const added = await items.load(first, last + 1);
    if (change !== this.#change && items === this.#gallery.items) return;
    if (!added || items !== this.#gallery.items) {
      this.#handlers.tell('Not all pictures between could be loaded: select them again.');
      return;
    }
    const chosen = new Map(base);
    for (const [position, item] of added.entries()) chosen.set(item.id, { item, index: first + position });
    this.#choose(chosen);
  }

  #refuse() {
    this.#handlers.tell(`At most ${number(MOST)} pictures can be selected at once.`);
  }

  #choose(chosen, isAll = false) {
    if (chosen.size > MOST) return this.#refuse();
    this.#change += 1;
    this.#chosen = chosen;
    this.isAll = isAll;
    if (chosen.size > 0 || isAll) this.#isActive = true;
    if (this.#isActive) this.#ended ??= cover(() => this.clear());
    const away = [...chosen.values()].filter(({ isAway }) => isAway).length;
    const words = `${number(chosen.size)} selected${away ? `, ${number(away)} elsewhere` : ''}`;
    const { bar, cells } = this.#elements;
    bar.hidden = !this.#isActive;
    cells.ariaMultiSelectable = this.#isActive ? 'true' : null;
    const all = isAll && `All ${number(this.#gallery.count)} selected`;
    bar.querySelector('p').textContent = all || (chosen.size ? words : 'Select pictures');
    bar.querySelector('.share').disabled = isAll;
    bar.querySelector('.hide').disabled = chosen.size === 0;
    this.mark();
  }

  #press(event) {
    // A second finger pinches.
    clearTimeout(this.#hold);
    const { cell } = event.target.closest('.cell') ?? {};
    this.#drag = null;
    if (!cell?.item || event.button !== 0 || !event.isPrimary || !this.#isOffered) return;
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
    // The click that follows a drag does nothing more. That of a finger comes some milliseconds later.
    if (drag) setTimeout(() => this.#drag === drag && (this.#drag = null), drag.isHeld ? LATE : 0);
  }
}
