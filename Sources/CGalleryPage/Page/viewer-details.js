import {
  bytes, caption, coordinates, element, exposure, megapixels, number, size, taken, takenAt,
} from './words.js';

/** The names of an image's details in the line below it and in the panel. */
export class ViewerDetails {
  #dialog;
  #item = null;
  #request = null;

  constructor(dialog) {
    this.#dialog = dialog;
    this.#find('.info').addEventListener('click', () => this.toggle());
  }

  /** `index` is the item's place among `total`. */
  show(item, index, total) {
    if (item !== this.#item) {
      this.#request?.abort();
      this.#request = null;
    }
    this.#item = item;
    this.#dialog.ariaLabel = caption(item);
    this.#find('.position').textContent = `${number(index + 1)} of ${number(total)}`;
    this.#find('.caption').textContent = caption(item);
    const whole = item.pixels ?? item;
    const facts = [
      item.author && link(item.author, item.authorURL),
      item.licence && link(item.licence, item.licenceURL),
      item.page && link('Where it is from', item.page),
      item.date && link(taken(item)),
      whole.width && whole.height && link(size(whole)),
    ];
    this.#find('.facts').replaceChildren(...facts.filter(Boolean));
    const download = this.#find('.download');
    download.hidden = !item.download;
    if (item.download) {
      download.href = item.download;
      download.download = item.name ?? '';
    }
    this.failure = null;
    this.#fill();
  }

  /** Tells a screen reader why the image cannot be shown; null if it can. */
  set failure(failure) {
    this.#find('.failure').textContent = failure ? `${failure.what}. ${failure.why}` : '';
  }

  /** Says of a zoomed image that it is not shown with all of its pixels. */
  set softness(text) {
    const place = this.#find('.softness');
    if (place.textContent !== text) place.textContent = text;
  }

  /** Opens or closes the panel. */
  toggle() {
    const panel = this.#find('.panel');
    panel.hidden = !panel.hidden;
    this.#find('.info').ariaPressed = !panel.hidden;
    this.#fill();
    this.load();
  }

  /** Writes the panel with what is known. */
  #fill() {
    if (!this.#find('.panel').hidden) this.#write(this.#item, this.#item.details ?? {});
  }

  /** Requests the file's own details for the open panel. */
  async load() {
    const item = this.#item;
    if (this.#find('.panel').hidden || !item.download || item.details || this.#request) return;
    const request = new AbortController();
    this.#request = request;
    try {
      const response = await fetch(item.download.replace(/original$/, 'details'), { signal: request.signal });
      if (!response.ok) throw new Error();
      item.details = await response.json();
      if (item === this.#item) this.#write(item, item.details);
    } catch ({ name }) {
      if (name !== 'AbortError') this.#write(item, {}, 'The file cannot be read at the moment.');
    } finally {
      if (this.#request === request) this.#request = null;
    }
  }

  #write(item, details, failure) {
    const { latitude, longitude } = details;
    const rows = [
      [item.download ? 'File' : 'Title', [item.description || item.name, details.bytes && bytes(details.bytes)]],
      ['Taken', [item.date && takenAt(item, details)]],
      ['Camera', [details.camera, details.lens]],
      ['Exposure', [exposure(details)]],
      ['Size', [item.width && item.height && size(item.pixels ?? item) + megapixels(item.pixels ?? item)]],
      ['Place', latitude === undefined ? [] : [coordinates(details), map(latitude, longitude)]],
      ['Author', [item.author && link(item.author, item.authorURL)]],
      ['Licence', [item.licence && link(item.licence, item.licenceURL)]],
      ['Source', [item.page && link('Where it is from', item.page)]],
      ['Note', [failure]],
    ];
    const list = element('dl');
    for (const [name, values] of rows) {
      const known = values.filter(Boolean);
      if (known.length === 0) continue;
      list.append(element('dt', name));
      for (const value of known) {
        list.append(element('dd'));
        list.lastChild.append(value);
      }
    }
    this.#find('.panel').replaceChildren(list);
  }

  #find(name) {
    return this.#dialog.querySelector(name);
  }
}

/** A link to a map of the place; nothing is requested there before it is clicked. */
function map(latitude, longitude) {
  const place = `${latitude.toFixed(6)}/${longitude.toFixed(6)}`;
  const [north, east] = place.split('/');
  return link('Show on a map', `https://www.openstreetmap.org/?mlat=${north}&mlon=${east}#map=15/${place}`);
}

/** A text, as a link if it has a web address. */
function link(text, address) {
  const isWeb = /^https?:/i.test(address ?? '');
  const web = { href: address, target: '_blank', rel: 'noopener noreferrer' };
  return element(isWeb ? 'a' : 'span', text, isWeb ? web : {});
}
