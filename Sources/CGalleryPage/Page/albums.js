import { imageAddress, thumbnailBox } from './image-size.js';
import { NOTHING } from './placeholder.js';
import { element, number, pictures } from './words.js';

/** Side of a cover in CSS pixels; as in the style sheet. */
const SIDE = 120;
/** Albums that are shown until all are asked for. */
const FIRST = 50;
/** Milliseconds until albums that could not be read are asked for again. */
const PAUSE = 2000;

/** The folders within the folder that is shown, as albums, and the way to it. */
export class Albums {
  #nav;
  #crumbs;
  #list;
  #session;
  #handlers;
  #generation = null;
  #again = 0;
  /** The covers that were in sight. */
  #seen = new Set();
  #sight = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) if (isIntersecting) this.#seen.add(target.cover);
    this.#handlers.load(this.#seen);
  });

  /**
   * `handlers`: `title()` of the gallery, `link(album)`, `go(album)`, `changed()` for another height, `load(covers)`.
   */
  constructor(nav, session, handlers) {
    this.#nav = nav;
    [this.#crumbs, this.#list] = nav.children;
    this.#session = session;
    this.#handlers = handlers;
    nav.addEventListener('click', (event) => {
      const { album } = event.target.closest('a')?.dataset ?? {};
      if (album === undefined || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      if (event.detail < 2) handlers.go(album);
    });
    this.#list.addEventListener('keydown', (event) => this.#key(event));
  }

  /** Shows the albums of a snapshot. */
  async show(snapshot) {
    const { generation, version, query, album = '', albums = 0 } = snapshot;
    if (generation === this.#generation) return;
    clearTimeout(this.#again);
    this.#generation = generation;
    const first = () => this.#session.albums(version, FIRST).catch((error) => this.#fail(error, snapshot));
    const shown = albums ? await first() : [];
    if (!shown || generation !== this.#generation) return;
    const hadFocus = this.#nav.contains(document.activeElement);
    this.#showWay(album, query);
    this.#showAlbums(shown, snapshot);
    this.#nav.hidden = !album && shown.length === 0;
    if (hadFocus) this.#nav.querySelector(album ? '[aria-current]' : 'ul a')?.focus();
    this.#handlers.changed();
  }

  /** After an outdated version a newer snapshot follows; after any other error the same is asked for again. */
  #fail({ status }, snapshot) {
    if (status === 409 || snapshot.generation !== this.#generation) return;
    this.#generation = null;
    this.#again = setTimeout(() => this.show(snapshot), PAUSE);
  }

  #showWay(album, query) {
    const names = album.split('/');
    const title = this.#handlers.title();
    const steps = [this.#link('', query ? `Search all of ${title}` : title)];
    for (const [index, name] of names.entries()) {
      // A path that is not UTF-8 begins with two slashes.
      if (name) steps.push(this.#link(names.slice(0, index + 1).join('/'), name));
    }
    steps.at(-1).ariaCurrent = 'page';
    this.#crumbs.hidden = !album;
    this.#crumbs.replaceChildren(...steps.map(item));
  }

  #showAlbums(shown, snapshot) {
    this.#sight.disconnect();
    this.#handlers.load((this.#seen = new Set()));
    const links = shown.map(({ path, count, key }, index) => {
      const link = this.#link(path, '');
      const cover = coverOf(key);
      this.#sight.observe(cover);
      link.append(cover, element('span', path.split('/').at(-1)), element('small', pictures(count)));
      link.tabIndex = index ? -1 : 0;
      return link;
    });
    if (snapshot.albums > shown.length) {
      const more = element('button', `All ${number(snapshot.albums)} folders`);
      more.addEventListener('click', async () => {
        const all = await this.#session.albums(snapshot.version, snapshot.albums).catch(() => null);
        if (!all || snapshot.generation !== this.#generation) return;
        this.#showAlbums(all, snapshot);
        this.#list.children[shown.length].firstChild.focus();
        this.#handlers.changed();
      });
      links.push(more);
    }
    this.#list.classList.toggle('all', shown.length > FIRST);
    this.#list.replaceChildren(...links.map(item));
  }

  /** One album takes part in the tab order; arrows lead to the others. */
  #key(event) {
    const stops = [...this.#list.querySelectorAll('a, button')];
    const from = stops.indexOf(event.target);
    const index = { ArrowLeft: from - 1, ArrowRight: from + 1, Home: 0, End: stops.length - 1 }[event.key];
    if (!stops[index]) return;
    event.preventDefault();
    for (const stop of stops) stop.tabIndex = stop === stops[index] ? 0 : -1;
    stops[index].focus();
  }

  #link(album, name) {
    const link = element('a', name, { href: this.#handlers.link(album) });
    link.dataset.album = album;
    return link;
  }
}

function item(content) {
  const item = element('li');
  item.append(content);
  return item;
}

/** The cover of an album, with what makes it a cell for the loader of images; a plain tile until it has come. */
function coverOf(key) {
  const image = element('img', '', { alt: '', src: NOTHING });
  const url = imageAddress(key, thumbnailBox(SIDE), 'cover');
  const show = () => (image.cover.state = 'ended');
  const fail = () => (image.src = NOTHING) && show();
  image.cover = { image, url, state: 'waiting', attempts: 0, notBefore: 0, show, fail };
  return image;
}
