import { diagnose } from './image-loader.js';
import { enlargedBox, imageAddress, LARGEST, savesData } from './image-size.js';
import { aspectOf, drawPlaceholder, setPlaceholder } from './placeholder.js';
import { Windows } from './windows.js';
import { element } from './words.js';

/** The assumed shape of an image until it is known: width to height. */
const UNKNOWN = 1.5;
/** Automatic retries of an image if the server is busy. */
const BUSY_RETRIES = 6;
/** Device pixels that a pixel of the image is at most enlarged to, and the least zoom that is offered. */
const MOST_PIXELS = 4;
const LEAST_ZOOM = 2;
/** The form of a zoomed image that cannot be cut, the largest that the server makes. */
const WHOLE = '4096x4096';
/** Milliseconds from a change of the zoom to requests of windows of the original. */
const SHARPENING = 60;

/**
 * One image in the enlarged view: its placeholder in the frame of the image, the thumbnail of the grid on it, and the
 * large form over both when it has loaded.
 */
export class Slide {
  item = null;
  /** Why the large form has failed, from `diagnose`; null if it has not. */
  failure = null;
  #windows = new Windows();
  #view = { zoom: 1, x: 0, y: 0 };
  #sharpening = 0;
  /** Hears of each failure, and that a zoomed image has no windows. */
  failed = () => {};
  softened = () => {};
  #stage = { width: 1, height: 1 };
  #form = null;
  #url = null;
  /** Ends the addresses of the large form, so that each retry has another. */
  #fragment = '';
  #timer = 0;
  #attempts = 0;
  #loading = null;
  #side = 0;
  /** The size of the frame on the stage, without zoom. */
  frameSize = { width: 1, height: 1 };

  constructor() {
    this.element = element('div', '', { className: 'slide' });
    this.frame = element('div', '', { className: 'frame' });
    // A drag moves the view of a zoomed image.
    this.thumbnail = element('img', '', { className: 'thumbnail', alt: '', draggable: false });
    this.image = element('img', '', { className: 'large', alt: '', draggable: false });
    // Browsers draw a sign of their own in place of an image that failed.
    this.thumbnail.addEventListener('error', () => this.thumbnail.removeAttribute('src'));
    this.frame.append(this.thumbnail, this.image, this.#windows.element);
    this.element.append(this.frame);
    this.#windows.refused = (item) => item === this.item && this.softened();
  }

  /** Shows an item, or nothing for null. `form`: box and fit of the thumbnails in the grid, which the browser has. */
  show(item, form, stage) {
    const isSame = item !== null && item.key === this.item?.key;
    this.item = item;
    this.#stage = stage;
    if (isSame) this.#windows.renew(item);
    else this.#clear(form);
    this.fit(stage);
  }

  /** Sizes the frame to a stage of `width` and `height` CSS pixels. */
  fit(stage) {
    this.#stage = stage;
    const { item, image } = this;
    this.element.hidden = item === null;
    if (!item) return;
    const aspect = aspectOf(item) ?? (image.naturalWidth ? image.naturalWidth / image.naturalHeight : UNKNOWN);
    const most = item.width || Infinity;
    const width = Math.min(stage.width, stage.height * aspect, most);
    const height = width / aspect;
    this.frameSize = { width, height };
    this.frame.style.width = `${width}px`;
    this.frame.style.height = `${height}px`;
    if (item.width) this.#windows.fit(width);
    // A square thumbnail is the middle of the image.
    const isCut = this.#form?.fit === 'cover';
    const side = Math.min(width, height);
    this.thumbnail.style.width = `${isCut ? side : width}px`;
    this.thumbnail.style.height = `${isCut ? side : height}px`;
  }

  /** The zoom at which each pixel of the image is one of the screen. */
  get actual() {
    return (this.item?.width || this.image.naturalWidth) / (this.frameSize.width * devicePixelRatio);
  }

  /** The largest zoom. */
  get most() {
    if (this.failure) return 1;
    return Math.max(this.actual * MOST_PIXELS, LEAST_ZOOM);
  }

  /** What part of its pixels a zoomed image without windows is shown with, in words. */
  get softness() {
    const { item, image } = this;
    if (item?.isCut !== false || this.#view.zoom === 1 || !image.naturalWidth) return '';
    const part = Math.round((100 * image.naturalWidth) / item.width);
    const reason = item.download ? ': this file cannot be read in parts' : '';
    return part < 100 ? `Shown at ${part} % of its full size${reason}.` : '';
  }

  /** Zooms the frame and moves it from the middle, in CSS pixels. */
  place(zoom, x, y, isSmooth) {
    const { style } = this.frame;
    this.frame.classList.toggle('smooth', isSmooth);
    style.translate = `${x}px ${y}px`;
    style.scale = zoom;
    this.#view = { zoom, x, y };
    this.#sharpening ||= setTimeout(() => this.#sharpen(), SHARPENING);
  }

  /** Shows the pixels of the original where no form of the whole has enough for the zoom. */
  #sharpen() {
    this.#sharpening = 0;
    const { item } = this;
    const { zoom, x, y } = this.#view;
    if (zoom === 1) this.#windows.clear(item);
    if (zoom === 1 || !item?.width || savesData()) return;
    const perPixel = item.width / (this.frameSize.width * zoom);
    const longer = Math.max(item.width, item.height);
    if ((longer / perPixel) * devicePixelRatio <= LARGEST || longer <= LARGEST) return;
    const { width, height } = this.#stage;
    this.#windows.show(
      {
        left: item.width / 2 - (x + width / 2) * perPixel,
        top: item.height / 2 - (y + height / 2) * perPixel,
        right: item.width / 2 - (x - width / 2) * perPixel,
        bottom: item.height / 2 - (y - height / 2) * perPixel,
      },
      2 ** Math.max(0, Math.floor(Math.log2(perPixel / devicePixelRatio))),
    );
  }

  /** Whether there is nothing more to wait for. */
  get isSettled() {
    return this.element.dataset.state === 'shown' || this.element.dataset.state === 'failed';
  }

  /**
   * Loads the large form, or the one for a zoom; `isUrgent` if it is on screen. Resolves when it has loaded or failed.
   */
  async load(isUrgent, zoom = 1) {
    const { item, image } = this;
    if (!item) return null;
    const isFailed = this.element.dataset.state === 'failed';
    const side = Math.max(this.#stage.width, this.#stage.height) * zoom;
    const box = zoom > 1 && item.isCut === false ? WHOLE : enlargedBox(side);
    const url = imageAddress(item.key, box, 'contain') + this.#fragment;
    // A form that is larger than needed stays.
    if ((url === this.#url || side < this.#side) && !isFailed) return this.#loading;
    this.#url = url;
    this.#side = side;
    this.#attempts = 0;
    image.fetchPriority = isUrgent ? 'high' : 'low';
    image.alt = item.description || item.name || '';
    this.#loading = this.#request(url);
    return this.#loading;
  }

  /** Requests the large form again if it has not arrived or has failed: its connection may be dead. */
  retry() {
    if (this.element.dataset.state !== 'loading' && (this.failure?.isFinal ?? true)) return;
    this.#url = null;
    this.#fragment += '#';
    this.image.removeAttribute('src');
    requestAnimationFrame(() => this.load(true));
  }

  /** What stands in place of a picture that cannot be shown. */
  #card({ what, why, isFinal }) {
    const card = element('div', '', { className: 'card' });
    card.append(element('h2', what), element('p', why));
    const { download, name } = this.item;
    if (!isFinal) {
      card.append(element('button', 'Try again', { onclick: () => this.load(true) }));
    } else if (download) {
      card.append(element('a', 'Download', { href: download, download: name }));
    }
    return card;
  }

  #fail(failure) {
    this.failure = failure;
    this.element.dataset.state = 'failed';
    this.element.append(this.#card(failure));
    this.failed();
  }

  async #request(url) {
    const { image } = this;
    const { dataset } = this.element;
    const shown = dataset.state === 'shown' ? image.src : null;
    if (!shown) {
      this.#forgive();
      dataset.state = 'loading';
    }
    image.src = url;
    try {
      await image.decode();
      if (url !== this.#url) return;
      dataset.state = 'shown';
      if (!aspectOf(this.item)) this.fit(this.#stage);
    } catch {
      if (url !== this.#url) return;
      // The form that was shown is better than none.
      if (shown) image.src = shown;
      else await this.#recover(url);
    }
  }

  async #recover(url) {
    const failure = await diagnose(url);
    const { pause } = failure;
    if (url !== this.#url) return;
    this.image.removeAttribute('src');
    this.#attempts += 1;
    if (pause === null || this.#attempts > (pause === 0 ? 1 : BUSY_RETRIES)) return this.#fail(failure);
    await new Promise((resolve) => {
      this.#timer = setTimeout(resolve, pause);
    });
    if (url === this.#url) await this.#request(url);
  }

  #forgive() {
    this.failure = null;
    this.element.querySelector('.card')?.remove();
  }

  #clear(form) {
    clearTimeout(this.#timer);
    this.#forgive();
    this.#form = form;
    this.#url = null;
    this.#side = 0;
    this.#windows.clear(this.item);
    this.element.dataset.state = '';
    this.image.removeAttribute('src');
    this.thumbnail.removeAttribute('src');
    const { item } = this;
    if (item) drawPlaceholder(this.frame, item);
    else setPlaceholder(this.frame, null);
    if (item) this.thumbnail.src = imageAddress(item.key, form.box, form.fit);
  }
}
