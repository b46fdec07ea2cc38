import { lastAtMost } from './sections.js';

/** Height of the name above a section, in CSS pixels. */
export const HEADER = 52;
/** Most cells of a viewport: screens that would need more get wider columns. */
const MOST_CELLS = 70;
const FEWEST_COLUMNS = 2;

/** Space between cells, in CSS pixels. */
export function spacing(width) {
  return width < 600 ? 4 : 6;
}

/** The approximate side of a cell, in CSS pixels: larger on wide screens, which are viewed from further away. */
function targetSide(width) {
  return 168 + width * 0.035;
}

/**
 * Square cells in columns of one width. Positions are computed from prefix sums over the sections: nothing here grows
 * with the number of items.
 */
export class SquareLayout {
  /** `width` and `viewportHeight` in CSS pixels; cells are `enlargement` times as large as usual. */
  constructor(sections, width, viewportHeight, enlargement) {
    this.sections = sections;
    this.width = width;
    this.spacing = spacing(width);
    const side = targetSide(width) * enlargement;
    const fewest = enlargement > 1 ? 1 : FEWEST_COLUMNS;
    this.columns = Math.max(fewest, Math.floor((width + this.spacing) / (side + this.spacing)));
    this.#setSide();
    while (this.columns > FEWEST_COLUMNS && this.columns * (viewportHeight / this.pitch + 1) > MOST_CELLS) {
      this.columns -= 1;
      this.#setSide();
    }
    this.tops = [];
    this.firstRows = [];
    let top = 0;
    let row = 0;
    for (const { title, count } of sections.all) {
      this.tops.push(top);
      this.firstRows.push(row);
      const rows = Math.ceil(count / this.columns);
      top += (title === null ? 0 : HEADER) + rows * this.pitch;
      row += rows;
    }
    this.rowCount = row;
    this.height = Math.max(top - this.spacing, 0);
    this.count = sections.count;
  }

  #setSide() {
    this.side = (this.width - (this.columns - 1) * this.spacing) / this.columns;
    this.pitch = this.side + this.spacing;
  }

  /** Which cells share a look: their form and the viewport report follow from it. */
  get cell() {
    return { width: this.side, height: this.side, columns: this.columns, fit: 'cover' };
  }

  /** The number of the row at a distance from the top of the content, or of the next one below. */
  rowAt(y) {
    if (this.rowCount === 0) return 0;
    const section = lastAtMost(this.tops, y);
    const within = y - this.tops[section] - this.#header(section);
    const rows = Math.ceil(this.sections.all[section].count / this.columns);
    const row = Math.floor(within / this.pitch);
    return this.firstRows[section] + Math.min(Math.max(row, 0), rows - 1);
  }

  /** A row: its place, its items and, for the first of a section, the number of that section. */
  row(number) {
    const section = lastAtMost(this.firstRows, number);
    const within = number - this.firstRows[section];
    const first = this.sections.firsts[section] + within * this.columns;
    const end = this.sections.firsts[section] + this.sections.all[section].count;
    return {
      top: this.tops[section] + this.#header(section) + within * this.pitch,
      height: this.side,
      first,
      count: Math.min(this.columns, end - first),
      heads: within === 0 && this.sections.title(section) !== null ? section : -1,
    };
  }

  rowOf(index) {
    const section = this.sections.of(index);
    return this.firstRows[section] + Math.floor((index - this.sections.firsts[section]) / this.columns);
  }

  /** Width of an item's cell in CSS pixels, given the height of its row. */
  cellWidth() {
    return this.side;
  }

  sectionTop(section) {
    return this.tops[section];
  }

  #header(section) {
    return this.sections.title(section) === null ? 0 : HEADER;
  }
}
