import { base } from './api.js';

/** Pauses before the attempts to reach the server again, in milliseconds; the last one repeats. */
const PAUSES = [500, 1000, 2000, 4000, 8000];
/** Milliseconds for which a tab is hidden before it closes its stream: longer than switching through tabs takes. */
const REST = 1000;
/** A stream that ends sooner than this after it began, in milliseconds, is followed by a pause. */
const STEADY = 2000;
/** Milliseconds without a sign of the server, which sends one every 5 s, after which its connections count as dead. */
const SILENCE = 15_000;
/** Connections that a browser has to a host. */
const CONNECTIONS = 6;
/** Milliseconds between looks for that. */
const LOOK = 2000;
/** Code units of identifiers in one message: a fourth of what the server accepts in bytes. */
const LONGEST = 16_384;

/**
 * The search of this page at the server: sends the user's actions, and receives each new snapshot of the results by
 * server-sent events. It reconnects by itself, and makes a new session with the same query if the server has dropped
 * the old one. A hidden tab has no stream: a browser has six connections for all tabs.
 */
export class Session {
  /** The state that the user wants. */
  wanted = { query: '', order: 'date', album: '' };
  #api;
  #handlers;
  #id = null;
  #source = null;
  #connecting = false;
  #isSending = false;
  #connectedAt = 0;
  #isResting = false;
  #rest = 0;
  #wake = () => {};
  #heard = 0;
  #connections = 1;
  /** The last state that the server knows: it differs from what the user wants while there is no connection. */
  #sent = {};

  /**
   * `handlers`: `gallery(description)`, `snapshot(snapshot)`, `connection(isAlive)`, `revived()` when dead connections
   * are dropped, `refused(error)`.
   */
  constructor(api, handlers) {
    this.#api = api;
    this.#handlers = handlers;
    addEventListener('online', () => this.#wake());
    setInterval(() => this.#isResting || Date.now() - this.#heard < SILENCE || this.#revive(), LOOK);
    document.addEventListener('visibilitychange', () => this.#followVisibility());
    addEventListener('pagehide', ({ persisted }) => {
      this.#close();
      // Nothing waits for the response: a session that is not ended ends by itself later.
      if (!persisted && this.#id !== null) this.#api.post(this.#path('end'), {}, { keepalive: true }).catch(() => {});
    });
    addEventListener('pageshow', (event) => event.persisted && this.#connect());
  }

  /** Begins with a `{query, order, album}`. */
  open({ query, order, album }) {
    this.wanted = { query, order, album };
    return this.#connect();
  }

  /** Takes changes of these. */
  want(change) {
    Object.assign(this.wanted, change);
    return this.#synchronise();
  }

  retry() {
    return this.#command('retry', {});
  }

  /** Returns those that are hidden: the first ones, if the server becomes unreachable. */
  async hide(ids) {
    const hidden = [];
    for (const part of parts(ids)) {
      if (!(await this.#command('delete', { ids: part }))) break;
      hidden.push(...part);
    }
    return hidden;
  }

  /** Shows hidden items again: these, or all hidden items of the results. Returns them, as `{ ids }`. */
  async undo(ids) {
    if (!ids) return this.#command('undo', {});
    for (const part of parts(ids)) if (!(await this.#command('undo', { ids: part }))) return false;
    return { ids };
  }

  /** Makes a link to pictures or a folder: `{ folder, ids, days }`. Returns its `path`, `host` and end `until`. */
  link(scope) {
    return this.#api.post('/api/link', scope);
  }

  /** The links that have not ended: `{ links: [{ id, folder, count, name, made, until }] }`. */
  links() {
    return this.#api.json('/api/links');
  }

  endLink(id) {
    return this.#api.post('/api/links/end', { id });
  }

  /** Prepares a zip of the pictures with `keys`, or of all: `{ path, missing }`. */
  zip(content) {
    return this.#api.post(this.#path('zip'), content);
  }

  /** Reports to the photo service that an image is about to be downloaded, which some services require. */
  use(id) {
    return this.#command('use', { id });
  }

  /** Throws the error of the request: the caller reports again later. */
  reportViewport(viewport) {
    return this.#api.post(this.#path('viewport'), viewport);
  }

  async items(version, from, count, signal) {
    const path = `${this.#path('items')}?version=${version}&from=${from}&count=${count}`;
    return (await this.#api.json(path, signal)).items;
  }

  /** The indexes of the items with these identifiers; -1 for each that is gone. */
  async positions(version, ids) {
    const found = [];
    for (const part of parts(ids)) {
      found.push(...(await this.#api.post(this.#path('positions'), { version, ids: part })).positions);
    }
    return found;
  }

  /** The first albums of a version: `[{path, count, key}]`, with the key of a cover. */
  async albums(version, count) {
    return (await this.#api.json(`${this.#path('albums')}?version=${version}&count=${count}`)).albums;
  }

  aspects(version, from, signal) {
    return this.#api.bytes(`${this.#path('aspects')}?version=${version}&from=${from}`, signal);
  }

  #path(verb) {
    return `/api/sessions/${this.#id}/${verb}`;
  }

  /** Sends what differs, one after the other: over two connections the later one might arrive first. */
  async #synchronise() {
    if (this.#connecting || this.#isSending) return;
    this.#isSending = true;
    while ((await this.#send('album')) || (await this.#send('query', 'search')) || (await this.#send('order')));
    this.#isSending = false;
  }

  /** Returns whether it was sent. What did not arrive is sent again once there is a connection. */
  async #send(field, verb = field) {
    const sent = this.#sent;
    const value = this.wanted[field];
    if (value === sent[field]) return false;
    sent[field] = value;
    const response = await this.#command(verb, { [field]: value });
    if (!response && this.#connecting) sent[field] = undefined;
    return response;
  }

  /**
   * Returns the server's response, or true; false if the command failed. Without a server it is not repeated, but for a
   * search or an order (`#send`): the user sees the strip.
   */
  async #command(verb, body) {
    try {
      return (await this.#api.post(this.#path(verb), body, { keepalive: verb === 'use', brief: true })) ?? true;
    } catch (error) {
      // Without a response there is no status.
      if ([undefined, 403, 404].includes(error.status)) this.#connect();
      else this.#handlers.refused(error);
      return false;
    }
  }

  #close() {
    this.#source?.close();
    this.#source = null;
  }

  async #connect() {
    if (this.#connecting) return;
    this.#connecting = true;
    this.#isResting = false;
    this.#close();
    if (performance.now() - this.#connectedAt < STEADY) await this.#pause(0);
    for (let attempt = 0; !(await this.#attempt()); attempt += 1) {
      this.#handlers.connection(false);
      await this.#pause(attempt);
    }
    this.#connecting = false;
    this.#connectedAt = performance.now();
    this.#handlers.connection(true);
    this.#synchronise();
    this.#followVisibility();
  }

  /** Closes the stream of a tab that stays hidden, and opens it again when the tab becomes visible. */
  #followVisibility() {
    clearTimeout(this.#rest);
    if (document.hidden) {
      this.#rest = setTimeout(() => this.#letGo(), REST);
    } else if (this.#isResting) {
      this.#connectedAt = -Infinity;
      this.#connect();
    } else {
      this.#wake();
    }
  }

  /**
   * The server keeps the session, so that its state stays; the stream begins with the missed changes. The stream is
   * closed first: the request needs a connection, and the streams of six tabs take them all.
   */
  #letGo() {
    if (this.#connecting || this.#isResting) return;
    this.#isResting = true;
    this.#close();
    this.#api.post(this.#path('away'), {}).catch(() => {});
  }

  /** Begins anew with what waits for a dead connection: after a sleep, a browser may wait for many minutes. */
  #revive() {
    this.#heard = Date.now();
    this.#connections = CONNECTIONS;
    this.#handlers.connection(false);
    this.#handlers.revived();
    this.#api.drop();
    this.#wake();
    this.#source?.onerror();
  }

  /** The former session goes on if the server still has it. */
  async #attempt() {
    this.#heard = Date.now();
    try {
      this.#handlers.gallery(await this.#api.gallery(this.#connections));
      this.#connections = 1;
      if (this.#id !== null && (await this.#listen())) return true;
      const sent = { ...this.wanted };
      this.#id = (await this.#api.post('/api/sessions', sent)).id;
      this.#sent = sent;
      return await this.#listen();
    } catch ({ code }) {
      // The server asks for its password: it was started anew, or the link of this page has ended.
      if (code === 'no-login') location.reload();
      return false;
    }
  }

  /** Resolves with whether the stream has begun. */
  #listen() {
    const id = this.#id;
    const source = new EventSource(base + this.#path('events'));
    this.#source = source;
    return new Promise((resolve) => {
      source.onopen = () => resolve(true);
      source.addEventListener('alive', () => (this.#heard = Date.now()));
      source.onmessage = ({ data }) => {
        const snapshot = JSON.parse(data);
        snapshot.generation = `${id}/${snapshot.version}`;
        this.#handlers.snapshot(snapshot);
      };
      source.onerror = () => {
        source.close();
        resolve(false);
        if (source === this.#source && !this.#connecting) this.#connect();
      };
    });
  }

  #pause(attempt) {
    return new Promise((resolve) => {
      this.#wake = resolve;
      setTimeout(resolve, PAUSES[Math.min(attempt, PAUSES.length - 1)]);
    });
  }
}

/** Identifiers in lists that are each short enough for a message. */
function parts(ids) {
  const lists = [[]];
  let length = 0;
  for (const id of ids) {
    length += id.length + 3;
    if (length > LONGEST && lists.at(-1).length > 0) {
      lists.push([]);
      length = id.length + 3;
    }
    lists.at(-1).push(id);
  }
  return lists;
}

/** Milliseconds between reports while the grid moves: ten a second. */
const INTERVAL = 100;

/**
 * Reports the viewport to the server, so that it makes those thumbnails first: at most ten times a second, and once
 * more at rest. One report is under way at a time; the newest one waits.
 */
export class ViewportReport {
  #send;
  #next = null;
  #last = '';
  #timer = 0;
  #isSending = false;

  /** `send(viewport)` returns a promise. */
  constructor(send) {
    this.#send = send;
  }

  /** `key` distinguishes reports of different results with the same viewport. */
  report(viewport, key) {
    this.#next = { viewport, key };
    if (this.#timer === 0 && !this.#isSending) this.#flush();
  }

  /** Drops the last report: the server may be another one now. */
  reset() {
    this.#last = '';
  }

  async #flush() {
    const next = this.#next;
    this.#next = null;
    if (!next) return;
    const text = next.key + JSON.stringify(next.viewport);
    if (text === this.#last) return;
    this.#last = text;
    this.#isSending = true;
    const sending = this.#send(next.viewport);
    this.#timer = setTimeout(() => {
      this.#timer = 0;
      if (!this.#isSending) this.#flush();
    }, INTERVAL);
    try {
      await sending;
    } catch {
      // The event stream notices a lost server, and the viewport is reported again once it is back.
      this.#last = '';
    }
    this.#isSending = false;
    if (this.#timer === 0) this.#flush();
  }
}
