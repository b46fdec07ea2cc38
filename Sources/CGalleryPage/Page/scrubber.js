import { element, number } from './words.js';

/** Least height of the thumb in CSS pixels, so that a finger can hold it. */
const LEAST_THUMB = 44;
/** Least distance of two names beside the track, and of two marks on it, in CSS pixels. */
const NAME_DISTANCE = 26;
const MARK_DISTANCE = 6;
/** Most names that are shown beside the track with months. */
const MOST_NAMES = 10;
/** Milliseconds until it disappears after scrolling. */
const STAY = 1200;
/** Parts of the gallery that a page key moves by without sections. */
const PAGES = 20;

/** The scroll bar of the grid: jumps anywhere at once, and shows the month there. */
export class Scrubber {
  #element;
  #grid;
  #label = element('div', '', { className: 'label' });
  #thumb = element('div', '', { className: 'thumb' });
  #years = element('div', '', { className: 'years' });
  #layout = null;
  #track = 0;
  #thumbHeight = 0;
  #grasp = null;
  #timer = 0;

  constructor(element, grid) {
    this.#element = element;
    this.#grid = grid;
    element.append(this.#years, this.#thumb, this.#label);
    element.addEventListener('pointerdown', (event) => this.#press(event));
    element.addEventListener('pointermove', (event) => this.#drag(event));
    element.addEventListener('lostpointercapture', () => this.#release());
    element.addEventListener('keydown', (event) => this.#key(event));
    element.addEventListener('focus', () => this.#describe());
  }

  /** Follows the grid; called once a frame. */
  update() {
    const { layout, end, offset, viewportHeight } = this.#grid;
    const isNeeded = layout !== null && end > viewportHeight / 2;
    if (this.#element.hidden === isNeeded) this.#element.hidden = !isNeeded;
    if (!isNeeded) return;
    if (layout !== this.#layout || this.#track === 0) this.measure();
    const top = end > 0 ? Math.min(offset / end, 1) * (this.#track - this.#thumbHeight) : 0;
    this.#thumb.style.transform = `translateY(${top}px)`;
    const text = this.#text();
    if (text !== this.#label.textContent) this.#label.textContent = text;
    this.#label.style.transform = `translateY(${top + this.#thumbHeight / 2}px)`;
  }

  /** Shows itself for a while: the grid is scrolled. */
  wake() {
    this.#element.classList.add('awake');
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#element.classList.remove('awake');
      this.#describe();
    }, STAY);
  }

  /** Reads its size; for another layout or another viewport. */
  measure() {
    const { layout, end, viewportHeight } = this.#grid;
    this.#layout = layout;
    this.#track = this.#element.clientHeight;
    this.#thumbHeight = Math.max(LEAST_THUMB, (this.#track * viewportHeight) / (end + viewportHeight));
    this.#thumb.style.height = `${this.#thumbHeight}px`;
    this.#writeNames();
  }

  /** Years beside the track, months where there is room between them, and a mark on it for each month. */
  #writeNames() {
    const { layout, end } = this.#grid;
    const [years, months, marks] = [[], [], []];
    let lastYear = null;
    for (const [number, { title }] of (layout.sections?.all ?? []).entries()) {
      const [, month, year] = /^(?:(\p{L}{3})\p{L}* )?(\d{4})$/u.exec(title ?? '') ?? [];
      if (!year) continue;
      const part = layout.sectionTop(number) / Math.max(end, 1);
      const top = Math.min(part, 1) * (this.#track - this.#thumbHeight) + this.#thumbHeight / 2;
      (year === lastYear ? months : years).push({ text: year === lastYear ? month : year, top });
      lastYear = year;
      if (top - (marks.at(-1) ?? -MARK_DISTANCE) >= MARK_DISTANCE) marks.push(top);
    }
    const names = [];
    for (const name of [...years, ...months]) {
      const isFree = names.every(({ top }) => Math.abs(top - name.top) >= NAME_DISTANCE);
      if (isFree && (names.length < MOST_NAMES || years.includes(name))) names.push(name);
    }
    this.#years.replaceChildren(...names.map(nameElement));
    const stops = marks.map((top) => `#0000 ${top}px, var(--quiet) ${top}px ${top + 1}px, #0000 ${top + 1}px`);
    this.#element.style.setProperty('--marks', stops.length ? `linear-gradient(${stops.join()})` : 'none');
  }

  #text() {
    const { layout, first } = this.#grid;
    const { sections } = layout;
    const title = sections?.count ? sections.title(sections.of(first)) : null;
    return title ?? `${number(first + 1)} of ${number(layout.count)}`;
  }

  #press(event) {
    if (event.button !== 0) return;
    event.preventDefault();
    if (event.pointerType === 'mouse') this.#element.focus({ preventScroll: true });
    this.#element.setPointerCapture(event.pointerId);
    const within = event.clientY - this.#thumb.getBoundingClientRect().top;
    const isOnThumb = within >= 0 && within <= this.#thumbHeight;
    this.#grasp = isOnThumb ? within : this.#thumbHeight / 2;
    this.#element.classList.add('dragged');
    if (!isOnThumb) this.#drag(event);
  }

  #drag(event) {
    if (this.#grasp === null) return;
    const top = event.clientY - this.#element.getBoundingClientRect().top - this.#grasp;
    this.#go((top / Math.max(this.#track - this.#thumbHeight, 1)) * this.#grid.end);
  }

  #release() {
    this.#grasp = null;
    this.#element.classList.remove('dragged');
    this.#describe();
  }

  #key(event) {
    const { offset, end, viewportHeight } = this.#grid;
    const targets = {
      ArrowUp: offset - viewportHeight,
      ArrowDown: offset + viewportHeight,
      PageUp: this.#section(-1),
      PageDown: this.#section(1),
      Home: 0,
      End: end,
    };
    const target = targets[event.key];
    if (target === undefined) return;
    event.preventDefault();
    this.#go(target);
    this.wake();
  }

  /** The top of the next or previous section, or of a part of the whole further. */
  #section(direction) {
    const { layout, offset, end } = this.#grid;
    const { sections } = layout;
    if (!sections || sections.all.length < 2) return offset + (direction * end) / PAGES;
    const { first } = layout.row(layout.rowAt(offset + layout.spacing + 1));
    const section = sections.of(first) + direction;
    return section < 0 ? 0 : section < sections.all.length ? layout.sectionTop(section) : end;
  }

  #go(offset) {
    this.#grid.scrub(Math.min(Math.max(offset, 0), this.#grid.end));
  }

  /** Reports its position to assistive technology, at rest: each frame would be too often. */
  #describe() {
    const { offset, end } = this.#grid;
    if (!this.#grid.layout?.count) return;
    this.#element.ariaValueNow = end > 0 ? Math.round((100 * offset) / end) : 0;
    this.#element.ariaValueText = this.#text();
  }
}

function nameElement({ text, top }) {
  const name = element('span', text);
  name.style.transform = `translateY(${top}px)`;
  return name;
}
