import { CellPool } from './cell.js';
import { thumbnailBox } from './image-size.js';
import { element } from './words.js';

/** One row of the grid, used again for other rows. */
class GridRow {
  cells = [];
  number = -1;
  #top = 0;
  #height = 0;

  constructor() {
    this.element = element('div', '', { className: 'row', role: 'row' });
  }

  /**
   * Shows row `number` of a layout. `content` has `layout`, `items`, `form` of thumbnails, `base` (the place in the
   * content where the container of the rows stands), `loader` and `pool`.
   */
  bind(number, content) {
    const { layout, items, form, base, loader } = content;
    const { top, height, first, count } = layout.row(number);
    if (number !== this.number) {
      this.number = number;
      this.element.ariaRowIndex = number + 1;
    }
    this.#top = top;
    this.move(base);
    if (height !== this.#height) {
      this.#height = height;
      this.element.style.height = `${height}px`;
    }
    this.#setCount(count, first, content);
    for (let position = 0; position < count; position += 1) {
      const cell = this.cells[position];
      const width = layout.cellWidth(first + position, height);
      cell.setWidth(width);
      const isWide = width > layout.cell.width;
      cell.bind(
        first + position,
        items.at(first + position),
        isWide ? { box: thumbnailBox(width), fit: form.fit } : form,
        loader,
      );
    }
  }

  move(base) {
    this.element.style.transform = `translateY(${this.#top - base}px)`;
  }

  cellOf(index) {
    return this.cells[index - this.cells[0].index];
  }

  /** Drops its contents and its requests. */
  clear(loader) {
    for (const cell of this.cells) cell.bind(-1, null, null, loader);
    this.number = -1;
  }

  /** Gives its cells away with their contents. */
  dissolve(pool) {
    for (const cell of this.cells) pool.keep(cell);
    this.cells = [];
    this.number = -1;
  }

  #setCount(count, first, { items, loader, pool }) {
    while (this.cells.length > count) pool.give(this.cells.pop(), loader);
    while (this.cells.length < count) {
      const cell = pool.take(items.at(first + this.cells.length)?.key);
      this.cells.push(cell);
      cell.element.ariaColIndex = this.cells.length;
      this.element.append(cell.element);
    }
  }
}

/**
 * The rows and the headers of sections that are in the document. Rows that leave it are used again, and are in visual
 * order for screen readers.
 */
export class GridWindow {
  /** Whether cells show something else since this was last set to false. */
  isChanged = false;
  /** Layout, items and form of the thumbnails. */
  content = null;
  #elements;
  #loader;
  #pool = new CellPool();
  #rows = new Map();
  #spare = [];
  #headers = new Map();
  #base = 0;

  /** `elements`: grid, headers. */
  constructor(elements, loader) {
    this.#elements = elements;
    this.#loader = loader;
  }

  /** Takes all rows out of the document, for another layout. Their cells can be found by their image until `settle`. */
  dissolve() {
    this.#keepFocus(this.#elements.grid);
    for (const row of this.#rows.values()) {
      row.dissolve(this.#pool);
      row.element.remove();
      this.#spare.push(row);
    }
    this.#rows.clear();
    for (const header of this.#headers.values()) header.element.remove();
    this.#headers.clear();
  }

  /** Drops the cells of the former layout that the present one has not taken. */
  settle() {
    this.#pool.settle(this.#loader);
  }

  /** Keeps exactly the rows `from…to` in the document. */
  place(from, to) {
    if (this.#rows.size === to - from + 1 && this.#rows.has(from) && this.#rows.has(to)) return;
    const { grid } = this.#elements;
    for (const [number, row] of this.#rows) {
      if (number >= from && number <= to) continue;
      this.#rows.delete(number);
      this.#spare.push(row);
    }
    let lowest = to + 1;
    for (const number of this.#rows.keys()) lowest = Math.min(lowest, number);
    for (let number = lowest - 1; number >= from; number -= 1) grid.prepend(this.#take(number));
    for (let number = from; number <= to; number += 1) if (!this.#rows.has(number)) grid.append(this.#take(number));
    for (const row of this.#spare) this.#leave(row);
    this.#placeHeaders(from, to);
  }

  /**
   * Moves all to a base: the containers are at `top` in the scrolled element, which is the place `base` in the content.
   */
  setBase(base, top) {
    if (base === this.#base) return;
    this.#base = base;
    this.#elements.grid.style.top = `${top}px`;
    this.#elements.headers.style.top = `${top}px`;
    for (const row of this.#rows.values()) row.move(base);
    for (const header of this.#headers.values()) this.#moveHeader(header);
  }

  /** Updates the items of all rows. */
  refresh() {
    for (const number of this.#rows.keys()) if (number < this.content.layout.rowCount) this.#bind(number);
  }

  /** The cell of an item in a row, if that is in the document. */
  cell(row, index) {
    return this.#rows.get(row)?.cellOf(index);
  }

  *cells() {
    for (const row of this.#rows.values()) yield* row.cells;
  }

  #take(number) {
    const row = this.#spare.pop() ?? new GridRow();
    this.#keepFocus(row.element);
    this.#rows.set(number, row);
    this.#bind(number);
    return row.element;
  }

  #bind(number) {
    this.isChanged = true;
    this.#rows.get(number).bind(number, {
      ...this.content,
      base: this.#base,
      loader: this.#loader,
      pool: this.#pool,
    });
  }

  /** A row that is not needed stays ready outside of the document. */
  #leave(row) {
    if (!row.element.isConnected) return;
    this.#keepFocus(row.element);
    row.clear(this.#loader);
    row.element.remove();
  }

  /** The grid gets the focus of an element that leaves the document. */
  #keepFocus(element) {
    if (element.contains(document.activeElement)) this.#elements.grid.focus({ preventScroll: true });
  }

  #placeHeaders(from, to) {
    const { layout } = this.content;
    const shown = new Set();
    for (let number = from; number <= to; number += 1) {
      const section = layout.row(number).heads;
      if (section < 0) continue;
      shown.add(section);
      if (this.#headers.has(section)) continue;
      const element = document.createElement('h2');
      element.textContent = layout.sections.title(section);
      const header = { element, top: layout.sectionTop(section) };
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
}
