/** The last position in the ascending `starts` whose value is at most `value`. */
export function lastAtMost(starts, value, length = starts.length) {
  let low = 0;
  let high = length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle] <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The sections of the results, and the index of each one's first item: prefix sums for binary search. */
export class Sections {
  constructor(sections) {
    this.all = sections.filter((section) => section.count > 0);
    this.firsts = [];
    this.count = 0;
    for (const section of this.all) {
      this.firsts.push(this.count);
      this.count += section.count;
    }
  }

  /** The number of the section that holds an item. */
  of(index) {
    return lastAtMost(this.firsts, index);
  }

  title(number) {
    return this.all[number]?.title ?? null;
  }
}

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

/** Milliseconds of work until other events get their turn. */
const SLICE = 3;
/** Rows that are computed between two checks of the clock. */
const STRIDE = 256;
/** Images beyond these shapes are cropped in the grid, so that a row remains a row. */
const NARROWEST = 0.5;
const WIDEST = 4;
/** The server's code for an aspect: `32 * log2(width / height) + 128`, 0 if unknown. */
const STEPS_PER_OCTAVE = 32;
const SQUARE = 128;
const UNKNOWN = 1.5;

const ASPECTS = Float64Array.from({ length: 256 }, (_, code) => {
  if (code === 0) return UNKNOWN;
  return Math.min(Math.max(2 ** ((code - SQUARE) / STEPS_PER_OCTAVE), NARROWEST), WIDEST);
});

/** The approximate height of a row, in CSS pixels. */
function targetHeight(width) {
  return 130 + width * 0.05;
}

/**
 * Rows of one width, in which images keep their shapes: each row has the height at which its images fill it. Rows are
 * computed once for all items, in slices that leave every frame its time, and are then found by binary search.
 */
export class JustifiedLayout {
  rowCount = 0;
  height = 0;
  count = 0;
  columns = 0;
  #aspects = new Uint8Array(0);
  #firsts = new Uint32Array(STRIDE);
  #tops = new Float64Array(STRIDE);
  #heights = new Float32Array(STRIDE);

  /** `width` in CSS pixels; rows are `enlargement` times as high as usual. */
  constructor(width, enlargement) {
    this.width = width;
    this.enlargement = enlargement;
    this.spacing = spacing(width);
    this.target = targetHeight(width) * enlargement;
    this.sections = null;
  }

  /**
   * Lays out the appended items. `aspects` has a code for each item. While more items will follow, the last row waits
   * for them. Returns whether it has finished: `isStale()` stops it.
   */
  async extend(sections, aspects, isOpen, isStale) {
    let row = Math.max(this.rowCount - 1, 0);
    let index = this.rowCount ? this.#firsts[row] : 0;
    let top = this.rowCount ? this.#tops[row] : 0;
    let section = index < sections.count ? sections.of(index) : sections.all.length;
    if (index === (sections.firsts[section] ?? -1)) top -= this.rowCount ? this.#header(sections, section) : 0;
    let sliceEnd = performance.now() + SLICE;
    for (; section < sections.all.length; section += 1) {
      const end = sections.firsts[section] + sections.all[section].count;
      const isLast = section === sections.all.length - 1;
      if (index === sections.firsts[section]) top += this.#header(sections, section);
      while (index < end) {
        const next = this.#break(aspects, index, end);
        if (next.isShort && isLast && isOpen && row > 0) break;
        this.#set(row, index, top, next.height);
        top += next.height + this.spacing;
        index = next.index;
        row += 1;
        if (row % STRIDE === 0 && performance.now() > sliceEnd) {
          await new Promise((resolve) => setTimeout(resolve));
          if (isStale()) return false;
          sliceEnd = performance.now() + SLICE;
        }
      }
    }
    this.sections = sections;
    this.#aspects = aspects;
    this.rowCount = row;
    this.count = index;
    this.height = Math.max(top - this.spacing, 0);
    return true;
  }

  /** Which cells share a look: most are within these sizes. */
  get cell() {
    return { width: this.target * UNKNOWN, height: this.target, columns: 0, fit: 'contain' };
  }

  rowAt(y) {
    const row = lastAtMost(this.#tops, y, this.rowCount);
    const isBelow = y > this.#tops[row] + this.#heights[row] + this.spacing;
    return isBelow && row + 1 < this.rowCount ? row + 1 : row;
  }

  row(number) {
    const first = this.#firsts[number];
    const end = number + 1 < this.rowCount ? this.#firsts[number + 1] : this.count;
    const section = this.sections.of(first);
    const heads = this.sections.firsts[section] === first && this.sections.title(section) !== null;
    return {
      top: this.#tops[number],
      height: this.#heights[number],
      first,
      count: end - first,
      heads: heads ? section : -1,
    };
  }

  rowOf(index) {
    return lastAtMost(this.#firsts, index, this.rowCount);
  }

  cellWidth(index, height) {
    return ASPECTS[this.#aspects[index]] * height;
  }

  sectionTop(section) {
    return this.#tops[this.rowOf(this.sections.firsts[section])] - this.#header(this.sections, section);
  }

  /**
   * The end of the row that begins at an item: with or without the image that makes it too wide, whichever fits better.
   */
  #break(aspects, first, end) {
    let sum = 0;
    let before = Infinity;
    for (let index = first; index < end; index += 1) {
      sum += ASPECTS[aspects[index]];
      const height = (this.width - (index - first) * this.spacing) / sum;
      if (height <= this.target) {
        if (index > first && before / this.target < this.target / height) return { index, height: before };
        return { index: index + 1, height };
      }
      before = height;
    }
    return { index: end, height: Math.min(this.target, before), isShort: true };
  }

  #set(row, first, top, height) {
    if (row === this.#firsts.length) {
      this.#firsts = grown(this.#firsts);
      this.#tops = grown(this.#tops);
      this.#heights = grown(this.#heights);
    }
    this.#firsts[row] = first;
    this.#tops[row] = top;
    this.#heights[row] = height;
  }

  #header(sections, section) {
    return sections.title(section) === null ? 0 : HEADER;
  }
}

function grown(array) {
  const result = new array.constructor(array.length * 2);
  result.set(array);
  return result;
}
