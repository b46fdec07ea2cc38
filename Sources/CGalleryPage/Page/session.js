import { RequestError } from './api.js';

/** Pauses before the attempts to reach the server again, in milliseconds; the last one repeats. */
const PAUSES = [500, 1000, 2000, 4000, 8000];
/** A stream that ends sooner than this after it began, in milliseconds, is followed by a pause. */
const STEADY = 2000;

/**
 * The search that this page holds at the server: sends what the user does, and hears each new snapshot of the results
 * by server-sent events. It reconnects by itself, and makes a new session with the same query where the server has
 * forgotten the former one.
 */
export class Session {
  #api;
  #handlers;
  #id = null;
  #source = null;
  #connecting = false;
  #connectedAt = 0;
  #wake = () => {};
  /** What the server was last told, and what the user wants now: they differ while there is no connection. */
  #sent = {};
  #wanted = { query: '', order: 'date' };

  /** `handlers`: `gallery(description)`, `snapshot(snapshot)`, `connection(isAlive)`, `refused(error)`. */
  constructor(api, handlers) {
    this.#api = api;
    this.#handlers = handlers;
    addEventListener('online', () => this.#wake());
    document.addEventListener('visibilitychange', () => document.hidden || this.#wake());
    addEventListener('pagehide', () => this.#close());
    addEventListener('pageshow', (event) => event.persisted && this.#connect());
  }

  open(query, order) {
    this.#wanted = { query, order };
    return this.#connect();
  }

  search(query) {
    this.#wanted.query = query;
    return this.#synchronise();
  }

  order(order) {
    this.#wanted.order = order;
    return this.#synchronise();
  }

  /** The order that the user wants. */
  get orderWanted() {
    return this.#wanted.order;
  }

  retry() {
    return this.#command('retry', {});
  }

  hide(id) {
    return this.#command('delete', { id });
  }

  undo(id) {
    return this.#command('undo', { id });
  }

  /** Tells the photo service that an image is about to be downloaded, as some ask of their users. */
  use(id) {
    return this.#command('use', { id });
  }

  /** Throws what the request throws: the caller reports again later. */
  reportViewport(viewport) {
    return this.#api.post(this.#path('viewport'), viewport);
  }

  async items(version, from, count, signal) {
    const path = `${this.#path('items')}?version=${version}&from=${from}&count=${count}`;
    return (await this.#api.json(path, signal)).items;
  }

  aspects(version, from, signal) {
    return this.#api.bytes(`${this.#path('aspects')}?version=${version}&from=${from}`, signal);
  }

  #path(verb) {
    return `/api/sessions/${this.#id}/${verb}`;
  }

  async #synchronise() {
    if (this.#connecting) return;
    const { query, order } = this.#wanted;
    if (query !== this.#sent.query) {
      this.#sent.query = query;
      await this.#command('search', { query });
    }
    if (order !== this.#sent.order) {
      this.#sent.order = order;
      await this.#command('order', { order });
    }
  }

  /** Returns whether the command was taken. One that met no server is not repeated: the user sees the strip. */
  async #command(verb, body) {
    try {
      await this.#api.post(this.#path(verb), body, { keepalive: verb === 'use' });
      return true;
    } catch (error) {
      const isGone = !(error instanceof RequestError) || error.status === 404 || error.status === 403;
      if (isGone) this.#connect();
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
  }

  /** The former session goes on if the server still has it. */
  async #attempt() {
    try {
      this.#handlers.gallery(await this.#api.gallery());
      if (this.#id !== null && (await this.#listen())) return true;
      const { query, order } = this.#wanted;
      this.#id = (await this.#api.post('/api/sessions', { query, order })).id;
      this.#sent = { query, order };
      return await this.#listen();
    } catch {
      return false;
    }
  }

  /** Resolves with whether the stream has begun. */
  #listen() {
    const id = this.#id;
    const source = new EventSource(this.#path('events'));
    this.#source = source;
    return new Promise((resolve) => {
      source.onopen = () => resolve(true);
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
