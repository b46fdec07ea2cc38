/** Milliseconds between changes of the place in the address: browsers refuse more than a hundred in half a minute. */
const INTERVAL = 500;

/** How to end what covers the page, the topmost at the end. */
const covers = [];
// After a reload there are none.
if (history.state?.covers) history.replaceState(null, '');

/** The state of the present entry of the history: how many covers it has, and whether it was made for the last. */
let present = history.state;
/** Whether the last step in the history went from such an entry to the one below, whose page is the same. */
let isUncovered = false;

function setPresent(state, write = 'replaceState', link = '') {
  present = { ...state, covers: covers.length };
  history[write](present, '', link);
}

/** Has "Back" end what covers the page, by `end()`. Returns what to call when that has ended otherwise. */
export function cover(end) {
  const depth = covers.push(end);
  setPresent({ isCover: true }, 'pushState');
  return () => {
    const place = covers.indexOf(end);
    if (place < 0) return;
    covers.splice(place);
    if (present.isCover && present.covers === depth) history.back();
    else setPresent(present);
  };
}

addEventListener('popstate', () => {
  const depth = history.state?.covers ?? 0;
  isUncovered = present?.isCover === true && depth === present.covers - 1;
  while (covers.length > depth) covers.pop()();
  // What covered it may have ended since.
  setPresent(history.state);
});

/**
 * What is shown, as the address of the page says: `?album=2021/alps&q=lake&order=name&at=120&open=ID`. `at` is the index
 * of the first item on screen, `open` the identifier of the enlarged one.
 */
export class Address {
  /** `{album, query, order, at, open}`. */
  state;
  #timer = 0;

  /** `moved(state, former)` hears that the user went back or forward. */
  constructor(moved) {
    history.scrollRestoration = 'manual';
    this.state = Address.#read();
    addEventListener('popstate', () => {
      clearTimeout(this.#timer);
      this.#timer = 0;
      if (isUncovered) return this.replace({});
      const former = this.state;
      this.state = Address.#read();
      moved(this.state, former);
    });
    addEventListener('pagehide', () => this.#flush());
  }

  /** A new entry of the history, which `back` undoes. */
  push(change) {
    this.#flush();
    this.state = { ...this.state, ...change };
    setPresent({ opens: Boolean(change.open) }, 'pushState', this.#link());
  }

  /** Changes the present entry. */
  replace(change) {
    this.state = { ...this.state, ...change };
    history.replaceState(history.state, '', this.#link());
  }

  /** Changes the place in the present entry, soon. */
  setPlace(at) {
    if (at === this.state.at) return;
    this.state.at = at;
    this.#timer ||= setTimeout(() => this.#flush(), INTERVAL);
  }

  /** Whether the present entry was made to enlarge an item, so that `history.back()` closes it. */
  get isOpenPushed() {
    return history.state?.opens === true;
  }

  /** The address of an item, enlarged. */
  linkTo(open, at) {
    return this.#link({ ...this.state, open, at });
  }

  /** The address of an album. */
  linkToAlbum(album) {
    return this.#link({ ...this.state, album, at: 0, open: null });
  }

  #flush() {
    if (this.#timer === 0) return;
    clearTimeout(this.#timer);
    this.#timer = 0;
    history.replaceState(history.state, '', this.#link());
  }

  #link({ album, query, order, at, open } = this.state) {
    const parameters = new URLSearchParams();
    if (album) parameters.set('album', album);
    if (query) parameters.set('q', query);
    if (order !== 'date') parameters.set('order', order);
    if (at > 0) parameters.set('at', at);
    if (open) parameters.set('open', open);
    const text = parameters.toString();
    return text ? `?${text}` : location.pathname;
  }

  static #read() {
    const parameters = new URLSearchParams(location.search);
    return {
      album: parameters.get('album') ?? '',
      query: parameters.get('q') ?? '',
      order: parameters.get('order') === 'name' ? 'name' : 'date',
      at: Math.max(0, Number.parseInt(parameters.get('at'), 10) || 0),
      open: parameters.get('open') || null,
    };
  }
}
