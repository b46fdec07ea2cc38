/**
 * Concurrent requests. Browsers open six connections to a host: the event stream takes one, and one is left for items.
 */
const LANES = 4;
/** Milliseconds after which an image lets others go first; doubled each time. */
const PATIENCE = 5000;
const LATENESS = 5;
/** Automatic retries of an image if the server is busy. */
const BUSY_RETRIES = 6;

/**
 * Gives cells their thumbnails, few at a time and in the order of the grid, so that nothing waits behind cells that
 * have left the window. While paused, as in a fling, nothing new is begun.
 */
export class ImageLoader {
  #wanted = [];
  #behind = [];
  /** The cells whose image is on its way, each with its load: of an earlier load nothing counts any more. */
  #active = new Map();
  #isPaused = false;

  /** The cells that lack their thumbnail, most urgent first. */
  want(cells, isPaused) {
    this.#wanted = cells;
    this.#isPaused = isPaused;
    this.#pump();
  }

  /** A set of what is loaded once all wanted cells are on their way, in place of what this said before. */
  wantBehind(cells) {
    for (const cell of this.#behind) if (!cells.has(cell)) this.cancel(cell);
    this.#behind = cells;
    this.#pump();
  }

  /** Drops the request of a cell that now shows another item. */
  cancel(cell) {
    if (this.#active.delete(cell)) cell.image.removeAttribute('src');
  }

  #pump() {
    if (this.#isPaused) return;
    const now = performance.now();
    for (const cell of [...this.#wanted, ...this.#behind]) {
      if (this.#active.size >= LANES) return;
      if (cell.state === 'waiting' && !this.#active.has(cell) && cell.notBefore <= now) this.#load(cell);
    }
  }

  async #load(cell) {
    const { image, url } = cell;
    const load = Symbol();
    const isCurrent = () => this.#active.get(cell) === load && cell.url === url;
    this.#active.set(cell, load);
    const impatience = setTimeout(() => isCurrent() && this.#yield(cell), PATIENCE * 2 ** cell.attempts);
    const began = performance.now();
    image.src = url;
    try {
      await image.decode();
      if (isCurrent()) cell.show(performance.now() - began);
    } catch {
      if (isCurrent()) await this.#recover(cell, isCurrent);
    }
    clearTimeout(impatience);
    if (isCurrent()) this.#active.delete(cell);
    this.#pump();
  }

  async #recover(cell, isCurrent) {
    const failure = await diagnose(cell.url);
    const { pause } = failure;
    if (!isCurrent()) return;
    cell.image.removeAttribute('src');
    cell.attempts += 1;
    if (pause === null || cell.attempts > (pause === 0 ? 1 : BUSY_RETRIES)) cell.fail(failure);
    else this.#postpone(cell, pause);
  }

  #yield(cell) {
    if (!this.#wanted.some((other) => other.state === 'waiting' && !this.#active.has(other))) return;
    this.cancel(cell);
    cell.attempts += 1;
    this.#postpone(cell, 0);
    this.#wanted = [...this.#wanted.filter((other) => other !== cell), cell];
  }

  #postpone(cell, pause) {
    cell.notBefore = performance.now() + pause;
    // Timers may fire a little early by this clock.
    setTimeout(() => this.#pump(), pause + LATENESS);
  }
}

const SECOND = 1000;

/** What is wrong with an image and why, for people, by the server's code. Another attempt would fail again. */
const FINAL = {
  damaged: ['Damaged file', 'The file is damaged or incomplete. Another copy may be whole.'],
  'not-a-picture': ['Not a picture', 'The file is empty, or contains something else than a picture.'],
  'too-large': ['Too large', 'The picture has more pixels than this gallery can show.'],
  video: ['A film', 'The file has the name of a picture, but contains a film.'],
  'raw-without-preview': ['No preview', 'The camera has stored no preview in this file.'],
  'unsupported-format': ['Unknown format', 'This gallery cannot read pictures of this kind.'],
};
/** The same for failures that may pass. */
const PASSING = {
  'not-found': ['Not there', 'The picture was moved or deleted.'],
  refused: ['Not allowed', 'The gallery may not read this picture.'],
  'server-failed': ['Not reachable', 'The website of this picture has a fault.'],
  unreachable: ['Not reachable', 'The website of this picture does not respond.'],
  'host-closed': ['Not reachable', 'The website of this picture does not respond.'],
  'timed-out': ['Took too long', 'The picture did not arrive in time.'],
  'offline-miss': ['Not stored', 'There is no connection, and the picture is not stored here.'],
};
const BUSY = ['Busy', 'The server has too much to do at the moment.'];
const GONE = ['No connection', 'The server of this gallery does not respond.'];
const UNKNOWN = ['Cannot be shown', 'Something went wrong with this picture.'];

/**
 * Finds out why an image failed, which an image element does not report: `{ what, why, isFinal, pause }`. `pause` is
 * null if a retry makes no sense now, else the milliseconds before it.
 */
export async function diagnose(url) {
  const response = await fetch(url).catch(() => null);
  if (!response) return failure(GONE, null);
  if (response.ok) return failure(UNKNOWN, 0);
  const isBusy = /429|503/.test(response.status);
  if (isBusy) return failure(BUSY, (Number(response.headers.get('Retry-After')) || 1) * SECOND);
  const { error } = await response.json().catch(() => ({}));
  return failure(FINAL[error] ?? PASSING[error] ?? UNKNOWN, null, error in FINAL);
}

function failure([what, why], pause, isFinal = false) {
  return { what, why, pause, isFinal };
}
