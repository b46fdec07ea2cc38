import { savesData } from './image-size.js';
import { openDialog } from './keyboard.js';
import { SlideShow } from './slide-show.js';
import { Slide } from './slide.js';
import { followSwipes } from './swipe.js';
import { ViewerDetails } from './viewer-details.js';
import { caption } from './words.js';
import { Zoom } from './zoom.js';

/** Milliseconds that an image has to stay before its large form is requested, while a key is held down. */
const SETTLE = 120;
/** Milliseconds of a slide to the next image; as in the style sheet. */
const SLIDE = 240;
/** Keys that scroll the panel while it has the focus. */
const SCROLLS = new Set([' ', 'ArrowUp', 'ArrowDown', 'PageUp', 'PageDown', 'Home', 'End']);

/**
 * The enlarged view: a dialog over the grid with one image, its neighbours at both sides, and its details. The grid
 * follows beneath, so that items are loaded and the place is right when the dialog closes.
 */
export class Viewer {
  /** The element that contains all of it, and may fill the screen. */
  element;
  #dialog;
  #stage;
  #gallery;
  #grid;
  #handlers;
  #details;
  #track;
  #slides = [new Slide(), new Slide(), new Slide()];
  #zoom;
  #slideShow;
  #index = -1;
  #id = null;
  /** The last item that was hidden here. */
  #hidden = null;
  #timer = 0;
  #isSliding = false;
  #isMouse = false;

  /**
   * `handlers`: `opened(id)`, `moved(id)`, `closed()`, `hide(item)`, `download(item)`,
   * `tell(text)`.
   */
  constructor(dialog, gallery, grid, handlers) {
    this.#dialog = dialog;
    this.#gallery = gallery;
    this.#grid = grid;
    this.#handlers = handlers;
    this.element = dialog.querySelector('.view');
    this.#details = new ViewerDetails(dialog);
    const find = (name) => dialog.querySelector(name);
    // It is in the document only while it is open, which keeps that small for scrolling.
    dialog.remove();
    this.#stage = find('.stage');
    this.#track = find('.track');
    this.#track.append(...this.#slides.map((slide) => slide.element));
    for (const slide of this.#slides) {
      slide.failed = () => {
        this.#tellFailure(slide.item);
        if (slide === this.#slides[1]) this.#slideShow.wait();
      };
      slide.softened = () => this.#load();
    }
    this.#zoom = new Zoom(this.#stage, () => this.#slides[1], () => this.#zoomed());
    this.#slideShow = new SlideShow(this.element, () => this.#goOn());
    // Clicks do not tell it in all browsers.
    this.#stage.addEventListener('pointerdown', ({ pointerType }) => (this.#isMouse = pointerType === 'mouse'));
    find('.full').addEventListener('click', () => this.#fill());
    find('.previous').addEventListener('click', () => this.go(-1));
    find('.next').addEventListener('click', () => this.go(1));
    find('.close').addEventListener('click', (event) => event.detail < 2 && handlers.closed());
    const hide = find('.hide');
    hide.addEventListener('click', () => {
      this.#stage.focus();
      this.#hide();
    });
    // Enter and Space open pictures: held a moment longer, they must not hide them. Delete does.
    for (const type of ['keydown', 'keyup']) {
      hide.addEventListener(type, (event) => (event.key === 'Enter' || event.key === ' ') && event.preventDefault());
    }
    find('.download').addEventListener('click', (event) => handlers.download(this.#slides[1].item, event));
    this.#track.addEventListener('click', (event) => this.#clicked(event));
    dialog.addEventListener('cancel', (event) => {
      event.preventDefault();
      handlers.closed();
    });
    // Not of the dialog: the focus leaves it when the element with the focus disappears.
    addEventListener('keydown', (event) => openDialog() === dialog && !event.defaultPrevented && this.#key(event));
    new ResizeObserver(() => this.isOpen && this.#fit()).observe(this.#stage);
    followSwipes(this.#stage, {
      isFree: () => this.#zoom.scale === 1,
      moved: (x, y) => this.#drag(x, y),
      swiped: (step) => this.#slide(step),
      dismissed: () => {
        this.#drag(0, 0);
        handlers.closed();
      },
    });
  }

  get isOpen() {
    return this.#dialog.open;
  }

  /** Shows the item at an index, when it has arrived; `isHeld` while a key is held down. */
  async open(index, isHeld = false) {
    const { items } = this.#gallery;
    await items.load(index, index + 1);
    if (items !== this.#gallery.items || !items.at(index)) return;
    if (!this.isOpen) {
      document.body.append(this.#dialog);
      this.#dialog.showModal();
      this.#handlers.opened(items.at(index).id);
    }
    this.#show(index, isHeld);
  }

  /** Shows the item with an identifier; returns whether it is there, null if that cannot be told. */
  async openItem(id) {
    const { items } = this.#gallery;
    const [index] = await items.locate([id]).catch(() => [null]);
    if (items !== this.#gallery.items) return this.openItem(id);
    if (index !== null && index >= 0) await this.open(index);
    return index === null ? null : index >= 0;
  }

  close() {
    if (!this.isOpen) return;
    clearTimeout(this.#timer);
    this.#slideShow.stop();
    this.#zoom.reset();
    const index = this.#index;
    this.#index = -1;
    this.#id = null;
    // The sheet of shortcuts is here if this filled the screen.
    this.#dialog.querySelector('dialog')?.close();
    this.#dialog.close();
    this.#dialog.remove();
    for (const slide of this.#slides) slide.show(null, null, this.#size);
    if (this.#gallery.count > 0) this.#grid.focus(Math.min(index, this.#gallery.count - 1));
  }

  go(step, isHeld) {
    const index = this.#index + step;
    if (index < 0 || index >= this.#gallery.count) return;
    this.open(index, isHeld);
  }

  /** Requests again what has not arrived, over a new connection. */
  retry() {
    for (const slide of this.#slides) slide.retry();
  }

  /** Finds its item in changed results; if it is gone, says so and shows the one in its place. */
  async refresh(id = this.#id) {
    if (!this.isOpen) return;
    if (this.#gallery.count === 0) return this.#handlers.closed();
    const index = Math.min(this.#index, this.#gallery.count - 1);
    const { items } = this.#gallery;
    if (items.at(index)?.id === id) return this.#show(index);
    const [found] = await items.locate([id]).catch(() => [null]);
    // Without a response, newer results follow.
    if (!this.isOpen || found === null || items !== this.#gallery.items) return;
    if (found < 0 && id === this.#id && id !== this.#hidden) {
      this.#handlers.tell(`“${caption(this.#slides[1].item)}” is not here any more.`);
    }
    await this.open(found < 0 ? index : found);
  }

  #hide() {
    this.#hidden = this.#id;
    this.#handlers.hide(this.#slides[1].item);
  }

  get #size() {
    return { width: this.#track.clientWidth, height: this.#track.clientHeight };
  }

  #show(index, isHeld = false) {
    const { items, count } = this.#gallery;
    const item = items.at(index);
    this.#index = index;
    if (item.id !== this.#id) {
      this.#id = item.id;
      this.#zoom.reset();
      this.#handlers.moved(item.id);
    }
    this.#grid.setActive(index);
    this.#grid.reveal(index);
    this.#arrange(item);
    const size = this.#size;
    const { form } = this.#grid;
    this.#slides[0].show(index > 0 ? items.at(index - 1) : null, form, size);
    this.#slides[1].show(item, form, size);
    this.#slides[2].show(index + 1 < count ? items.at(index + 1) : null, form, size);
    this.#place();
    this.#details.show(item, index, this.#gallery.snapshot.total ?? count);
    this.#disable('.previous', index === 0);
    this.#disable('.next', index + 1 >= count);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#load(), SETTLE);
    if (!isHeld) this.#slides[1].load(true).then(() => this.#tellFailure(item));
  }

  #disable(name, isDisabled) {
    const button = this.#dialog.querySelector(name);
    if (isDisabled && button === document.activeElement) this.#stage.focus();
    button.disabled = isDisabled;
  }

  async #load() {
    this.#details.load();
    const [previous, current, next] = this.#slides;
    const { item } = current;
    // What has failed is retried when it is shown again, or by its button.
    if (!current.failure) await current.load(true, this.#zoom.scale);
    this.#tellFailure(item);
    this.#details.softness = this.#slides[1].softness;
    if (current.item === item && item && item.width === undefined && !current.failure) {
      await this.#gallery.items.renew(this.#index);
      if (current.item === item && item.width) {
        this.#show(this.#index);
        this.#zoom.settle();
      }
    }
    if (current.item === item) this.#slideShow.wait();
    if (savesData() || current.item !== item || !this.isOpen) return;
    await next.load(false);
    if (current.item === item && this.isOpen) await previous.load(false);
  }

  #tellFailure(item) {
    if (this.isOpen && this.#slides[1].item === item) this.#details.failure = this.#slides[1].failure;
  }

  /** Reorders the slides so that what is already loaded stays with its item. */
  #arrange(item) {
    if (this.#slides[2].item?.key === item.key) this.#slides.push(this.#slides.shift());
    else if (this.#slides[0].item?.key === item.key) this.#slides.unshift(this.#slides.pop());
  }

  #place() {
    this.#isSliding = false;
    this.#track.classList.remove('sliding');
    this.#drag(0, 0);
    for (const [position, { element }] of this.#slides.entries()) {
      element.style.transform = `translateX(${(position - 1) * 100}%)`;
      element.inert = position !== 1;
    }
  }

  #fit() {
    for (const slide of this.#slides) slide.fit(this.#size);
    this.#zoom.settle();
    this.#load();
  }

  /** A sharper form is loaded once the zoom stays. */
  #zoomed() {
    this.#details.softness = this.#slides[1].softness;
    if (this.#zoom.scale === 1) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#load(), SETTLE);
  }

  #fill() {
    if (document.fullscreenElement) document.exitFullscreen();
    else this.element.requestFullscreen?.().catch(() => this.#handlers.tell('This browser has no fullscreen here.'));
  }

  /** The next picture of the slide show, as soon as there is one; false after the last. */
  #goOn() {
    // Again, if the present one has not loaded or is looked into, or the next one does not come. The interval begins
    // anew when it has.
    this.#slideShow.wait();
    if (!this.#slides[1].isSettled || this.#zoom.scale > 1) return true;
    const isLast = this.#index + 1 >= this.#gallery.count;
    if (isLast && !this.#gallery.snapshot.more) {
      this.#handlers.tell('That was the last picture.');
      return false;
    }
    this.go(1);
    return true;
  }

  #drag(x, y) {
    if (this.#isSliding) return;
    this.#track.style.transform = x || y ? `translate(${x}px, ${y}px)` : '';
  }

  /** Ends a swipe: moves to a neighbour, or back to the middle. */
  #slide(step) {
    const index = this.#index + step;
    const target = index < 0 || index >= this.#gallery.count ? 0 : step;
    this.#isSliding = true;
    this.#track.classList.add('sliding');
    this.#track.style.transform = target ? `translate(${-100 * target}%, 0)` : '';
    const still = matchMedia('(prefers-reduced-motion: reduce)').matches;
    setTimeout(
      () => {
        if (!this.isOpen || !this.#isSliding) return;
        if (target) this.go(target);
        else this.#place();
      },
      still ? 0 : SLIDE,
    );
  }

  #clicked({ target, detail }) {
    // A finger swipes to close. The first of two clicks has opened this, or closes it already.
    if (this.#isMouse && detail < 2 && !target.closest('.frame, .card')) this.#handlers.closed();
  }

  #key(event) {
    const isOnControl = event.target.closest('select, a, button');
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest('select')) return;
    if (event.target.closest('.panel') && SCROLLS.has(event.key)) return;
    const steps = { ArrowLeft: -1, ArrowRight: 1, PageUp: -1, PageDown: 1 };
    const nudges = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const commands = {
      i: () => this.#details.toggle(),
      f: () => this.#fill(),
      '+': () => this.#zoom.step(1),
      '=': () => this.#zoom.step(1),
      '-': () => this.#zoom.step(-1),
      0: () => this.#zoom.reset(),
    };
    const command = event.key === ' ' && !isOnControl ? () => this.#slideShow.toggle() : commands[event.key];
    if (command) {
      const isZoom = '+=-'.includes(event.key);
      if (!event.repeat || isZoom) command();
    } else if (event.key in nudges && this.#zoom.scale > 1) {
      this.#zoom.nudge(...nudges[event.key]);
    } else if (event.key in steps) {
      this.go(steps[event.key], event.repeat);
    } else if (event.key === 'Home') this.open(0);
    else if (event.key === 'End') this.open(this.#gallery.count - 1);
    else if (event.key !== 'Delete') return;
    else if (!event.repeat) this.#hide();
    event.preventDefault();
  }
}
