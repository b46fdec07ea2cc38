import { ItemStore } from './items.js';
import { JustifiedLayout, Sections, SquareLayout } from './layouts.js';

/** Milliseconds for which old pictures stay during a new search: quick results follow without a flash. */
const HOLD = 150;
/** Items of a skeleton: more cells than any screen shows. */
const SKELETON = 120;
/** The items of a skeleton's cells. */
const NOTHING = { count: 0, at: () => null, setWindow() {}, close() {} };

/**
 * Turns snapshots of the results into the contents of the grid: a list of items in a layout. Results of another query
 * begin at the top; a revision of the same ones (something was hidden, the folder has changed) keeps the place.
 */
export class Gallery {
  snapshot = null;
  items = NOTHING;
  /** The index of the first item of the next results to show; 0 once it is there. */
  place = 0;
  #session;
  #grid;
  #notices;
  #sections = new Sections([]);
  #generation = null;
  #shown = {};
  #hold = 0;
  #revision = 0;
  /** Whether images keep their shapes, in rows, or are cut to squares; how many times as large as usual cells are. */
  #look = { isJustified: false, enlargement: 1 };
  #aspects = new Uint8Array(0);
  #justified = null;
  #laying = 0;
  #changed;

  /** `changed(snapshot)` hears when the grid has taken a snapshot. */
  constructor(session, grid, notices, changed) {
    this.#session = session;
    this.#grid = grid;
    this.#notices = notices;
    this.#changed = changed;
  }

  get count() {
    return this.#sections.count;
  }

  get isSkeleton() {
    return this.items === NOTHING;
  }

  /** Takes a change of the look. */
  arrange(change) {
    Object.assign(this.#look, change);
    this.relayout();
  }

  /** Takes the newest snapshot. */
  take(snapshot) {
    clearTimeout(this.#hold);
    if (isWaiting(snapshot) && this.count > 0) this.#hold = setTimeout(() => this.#apply(snapshot), HOLD);
    else this.#apply(snapshot);
  }

  /** Lays the items out again, for another width or look, around the first item on screen. */
  relayout() {
    if (!this.snapshot) return;
    this.#lay(this.isSkeleton && isWaiting(this.snapshot) ? skeleton() : this.#sections, (next) => {
      const { layout, offset, first } = this.#grid;
      if (!layout?.count || offset === 0 || first >= next.count) return this.#grid.show(next, this.items, 0);
      // The same part of its row is above the edge.
      const [row, later] = [layout.row(layout.rowOf(first)), next.row(next.rowOf(first))];
      this.#grid.show(next, this.items, later.top + ((offset - row.top) / row.height) * later.height);
    });
  }

  #apply(snapshot) {
    const previous = this.snapshot;
    this.snapshot = snapshot;
    const { query, order, album } = this.#shown;
    const isSameQuery =
      query === snapshot.query && order === this.#session.wanted.order && album === snapshot.album;
    if (snapshot.generation === this.#generation && previous?.count > 0) {
      if (snapshot.count > previous.count) this.#grow(snapshot);
    } else if (isSameQuery && this.count > 0 && snapshot.count > 0) {
      this.#revise(snapshot);
    } else if (isSameQuery && this.count > 0 && isWaiting(snapshot)) {
      // A restarted server searches for the same results: the old ones stay until these arrive.
    } else {
      // A disk that is away for a while comes back.
      if (isSameQuery && snapshot.state === 'failed') this.place ||= this.#grid.first;
      this.#reset(snapshot);
    }
    this.#notices.show(snapshot);
    this.#changed(snapshot);
  }

  /** Items were appended. */
  #grow(snapshot) {
    this.#sections = new Sections(snapshot.sections);
    this.items.count = this.#sections.count;
    this.#lay(this.#sections, (layout) => {
      this.#grid.append(layout);
      this.#goToPlace();
    });
  }

  /** Shows other results, or cells without items while there are none yet. */
  #reset(snapshot) {
    this.#revision += 1;
    this.#generation = snapshot.generation;
    this.#shown = { query: snapshot.query, order: this.#session.wanted.order, album: snapshot.album };
    this.items.close();
    this.#sections = new Sections(snapshot.count ? snapshot.sections : []);
    this.items = snapshot.count ? this.#store(snapshot) : NOTHING;
    this.#lay(isWaiting(snapshot) ? skeleton() : this.#sections, (layout) => {
      this.#grid.setActive(0);
      this.#grid.show(layout, this.items, 0);
      this.#goToPlace();
    });
  }

  /** Shows a changed list of the same results around the first item on screen that is still there. */
  async #revise(snapshot) {
    this.#revision += 1;
    const revision = this.#revision;
    const next = this.#store(snapshot);
    const { items } = this;
    const { first, last, active, layout, offset } = this.#grid;
    const shown = Array.from({ length: last - first + 1 }, (_, row) => first + row).filter((index) => items.at(index));
    const ids = [active, ...shown].map((index) => items.at(index)?.id ?? '');
    // Without a response, newer results follow.
    const [focus = -1, ...places] = await next.locate(ids).catch(() => []);
    const kept = places.findIndex((index) => index >= 0);
    const [anchor, place] = kept < 0 ? [first, -1] : [shown[kept], places[kept]];
    const from = Math.min(place >= 0 ? place : first, next.count - 1);
    await next.load(from, Math.min(from + last - first + 1, next.count));
    if (revision !== this.#revision) return next.close();
    const slack = offset - layout.row(layout.rowOf(anchor)).top;
    this.#generation = snapshot.generation;
    this.#sections = new Sections(this.snapshot.sections);
    next.count = this.#sections.count;
    this.items.close();
    this.items = next;
    this.#lay(this.#sections, (revised) => {
      const row = revised.row(revised.rowOf(from));
      this.#grid.setActive(focus >= 0 ? focus : Math.min(active, revised.count - 1));
      // The user may have scrolled on meanwhile.
      this.#grid.show(revised, next, (offset === 0 ? 0 : row.top + slack) + this.#grid.offset - offset);
      this.#changed(this.snapshot);
    });
  }

  #store({ version, count }) {
    return new ItemStore(
      count,
      (from, length, signal) => this.#session.items(version, from, length, signal),
      (ids) => this.#session.positions(version, ids),
      () => this.#grid.refresh(),
    );
  }

  /** Scrolls to the place in the address, or to the end, where more is loaded, until that place exists. */
  #goToPlace() {
    if (this.place === 0 || this.count === 0) return;
    const isThere = this.place < this.count;
    this.#grid.reveal(isThere ? this.place : this.count - 1, isThere ? 'start' : 'nearest');
    if (isThere || !this.snapshot.more) this.place = 0;
  }

  /** Passes the layout of all items to `use`: square cells at once, justified rows when they have been computed. */
  #lay(sections, use) {
    this.#laying += 1;
    if (this.#look.isJustified && !this.isSkeleton) this.#justify(sections, this.#laying, use);
    else use(new SquareLayout(sections, this.#grid.width, this.#grid.viewportHeight, this.#look.enlargement));
  }

  async #justify(sections, laying, use) {
    const isStale = () => laying !== this.#laying;
    const { version, more } = this.snapshot;
    const { width } = this.#grid;
    const last = this.#justified?.items === this.items ? this.#justified.layout : null;
    const held = last?.width === width && last.enlargement === this.#look.enlargement;
    if (this.#justified?.items !== this.items) this.#aspects = new Uint8Array(0);
    try {
      if (this.#aspects.length < sections.count) {
        const added = await this.#session.aspects(version, this.#aspects.length);
        if (isStale()) return;
        const aspects = new Uint8Array(this.#aspects.length + added.length);
        aspects.set(this.#aspects);
        aspects.set(added, this.#aspects.length);
        this.#aspects = aspects;
      }
      const layout = held ? this.#justified.layout : new JustifiedLayout(width, this.#look.enlargement);
      this.#justified = { items: this.items, layout };
      if (await layout.extend(sections, this.#aspects, more, isStale)) use(layout);
      else this.#justified = null;
    } catch {
      // The results have changed, or the server is gone: a newer snapshot lays them out again.
    }
  }
}

function skeleton() {
  return new Sections([{ title: null, count: SKELETON }]);
}

/** Whether there are no results yet, but may still be. */
function isWaiting({ state, count }) {
  return count === 0 && state === 'loading';
}
