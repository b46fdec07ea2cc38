import { thumbnailBox } from './image-size.js';

/** One row of the grid, used again for other rows. */
export class GridRow {
  cells = [];
  number = -1;
  #top = 0;
  #height = 0;

  constructor() {
    this.element = document.createElement('div');
    this.element.className = 'row';
    this.element.role = 'row';
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
