import { bytes, caption, number, taken } from './words.js';

/** The details of an image in the enlarged view: its name, author and licence, with their links. */
export class ViewerDetails {
  #dialog;
  #position;
  #caption;
  #facts;
  #failure;
  #download;

  constructor(dialog) {
    this.#dialog = dialog;
    this.#position = dialog.querySelector('.position');
    this.#caption = dialog.querySelector('.caption');
    this.#facts = dialog.querySelector('.facts');
    this.#failure = dialog.querySelector('.failure');
    this.#download = dialog.querySelector('.download');
  }

  /** `index` is the item's place among `total`. */
  show(item, index, total) {
    this.#dialog.setAttribute('aria-label', caption(item));
    this.#position.textContent = `${number(index + 1)} of ${number(total)}`;
    this.#caption.textContent = caption(item);
    const size = item.width && item.height ? `${number(item.width)} × ${number(item.height)}` : null;
    const facts = [
      item.author && link(item.author, item.authorURL),
      item.licence && link(item.licence, item.licenceURL),
      item.page && link('Where it is from', item.page),
      item.date && link(taken(item)),
      size && link(size),
      item.bytes && link(bytes(item.bytes)),
    ];
    this.#facts.replaceChildren(...facts.filter(Boolean));
    this.#download.hidden = !item.download;
    if (item.download) {
      this.#download.href = item.download;
      this.#download.download = item.name ?? '';
    }
    this.failure = null;
  }

  /** Tells a screen reader why the image cannot be shown; null if it can. */
  set failure(failure) {
    this.#failure.textContent = failure ? `${failure.what}. ${failure.why}` : '';
  }
}

/** A text, as a link if it has a web address. */
function link(text, address) {
  const isWeb = /^https?:/i.test(address ?? '');
  const element = document.createElement(isWeb ? 'a' : 'span');
  element.textContent = text;
  if (isWeb) {
    element.href = address;
    element.target = '_blank';
    element.rel = 'noopener noreferrer';
  }
  return element;
}
