import { Cell } from './cell.js';

/** One row of the grid, used again for other rows. */
export class GridRow {
  cells = [];
  number = -1;
  #top = 0;
  #height = 0;
  #spare = [];

  constructor() {
    this.element = document.createElement('div');
    this.element.className = 'row';
    this.element.setAttribute('role', 'row');
  }

  /** Shows row `number` of a layout. `base` is the place in the content that the container of the rows stands at. */
  bind(number, layout, items, form, base, loader) {
    const { top, height, first, count } = layout.row(number);
    if (number !== this.number) {
      this.number = number;
      this.element.setAttribute('aria-rowindex', number + 1);
    }
    this.#top = top;
    this.move(base);
    if (height !== this.#height) {
      this.#height = height;
      this.element.style.height = `${height}px`;
    }
    this.#setCount(count, loader);
    for (let position = 0; position < count; position += 1) {
      const cell = this.cells[position];
      cell.setWidth(layout.cellWidth(first + position, height));
      cell.bind(first + position, items.at(first + position), form, loader);
    }
  }

  move(base) {
    this.element.style.transform = `translateY(${this.#top - base}px)`;
  }

  cellOf(index) {
    return this.cells[index - this.cells[0].index];
  }

  /** Drops what it shows, and its requests. */
  clear(loader) {
    for (const cell of this.cells) cell.bind(-1, null, null, loader);
    this.number = -1;
  }

  #setCount(count, loader) {
    while (this.cells.length > count) {
      const cell = this.cells.pop();
      cell.bind(-1, null, null, loader);
      cell.element.remove();
      this.#spare.push(cell);
    }
    while (this.cells.length < count) {
      const cell = this.#spare.pop() ?? new Cell();
      this.cells.push(cell);
      cell.element.setAttribute('aria-colindex', this.cells.length);
      this.element.append(cell.element);
    }
  }
}
