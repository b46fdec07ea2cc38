/** Browsers clip elements that are higher than 16 to 33 million CSS pixels: the scrolled element stays below. */
export const TALLEST = 7_000_000;
/** CSS pixels at either end where the scroll position equals the place in the content, so that the ends are exact. */
const EXACT = 1_000_000;
/** A scroll further than this in one frame counts as a jump by the scroll bar. */
const JUMP_SCREENS = 4;

/**
 * Maps the scroll position of an element of limited height to a place in content of any height, both in CSS pixels.
 *
 * Scrolling moves the content one to one. What this leaves between the scroll position and the place that it stands
 * for is mended by `settle` when scrolling has ended, and a jump goes straight to the place.
 */
export class ScrollSpace {
  /** The place in the content that is at the top of the viewport. */
  offset = 0;
  /** The farthest offset. */
  end = 0;
  #position = 0;
  #spaceEnd = 0;
  #viewport = 1;

  /** Height of the element that is scrolled. */
  height = 0;

  resize(contentHeight, viewportHeight) {
    this.#viewport = viewportHeight;
    this.height = Math.min(contentHeight, TALLEST);
    this.end = Math.max(contentHeight - viewportHeight, 0);
    this.#spaceEnd = Math.max(this.height - viewportHeight, 0);
  }

  get isMapped() {
    return this.end > this.#spaceEnd;
  }

  /** The difference between a scroll position and the place in the content. */
  get shift() {
    return this.offset - this.#position;
  }

  /** Takes a new scroll position; returns the offset. */
  scrolled(position) {
    const distance = position - this.#position;
    this.#position = position;
    if (!this.isMapped) this.offset = position;
    else if (Math.abs(distance) > JUMP_SCREENS * this.#viewport) this.offset = this.#toContent(position);
    else this.offset = Math.min(Math.max(this.offset + distance, 0), this.end);
    return this.offset;
  }

  /** The scroll position for an offset, which the caller sets and confirms with `place`. */
  positionFor(offset) {
    return Math.round(this.#toSpace(Math.min(Math.max(offset, 0), this.end)));
  }

  /** Records that the scroll position is now `position`, for `offset`. */
  place(offset, position) {
    this.offset = this.isMapped ? Math.min(Math.max(offset, 0), this.end) : position;
    this.#position = position;
  }

  /** Whether the scroll position is off its place by more than `slack` CSS pixels. */
  hasDrifted(slack) {
    return this.isMapped && Math.abs(this.#toSpace(this.offset) - this.#position) > slack;
  }

  #toContent(position) {
    if (!this.isMapped || position <= EXACT) return position;
    if (position >= this.#spaceEnd - EXACT) return this.end - (this.#spaceEnd - position);
    return EXACT + (position - EXACT) * this.#stretch;
  }

  #toSpace(offset) {
    if (!this.isMapped || offset <= EXACT) return offset;
    if (offset >= this.end - EXACT) return this.#spaceEnd - (this.end - offset);
    return EXACT + (offset - EXACT) / this.#stretch;
  }

  get #stretch() {
    return (this.end - 2 * EXACT) / (this.#spaceEnd - 2 * EXACT);
  }
}
