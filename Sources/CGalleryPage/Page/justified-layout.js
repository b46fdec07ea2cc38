import { lastAtMost } from './sections.js';
import { HEADER, spacing } from './square-layout.js';

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
