/** A response whose status is an error, with the server's message. */
export class RequestError extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** The longest time for a response, in milliseconds. */
const PATIENCE = 20_000;

/** What the paths of this page's requests begin with: `/s/TOKEN` on the page of a link. */
export const base = /^\/s\/[^/]+/.exec(location.pathname)?.[0] ?? '';

/** Whether an error only says that its request was cancelled. */
export function isCancelled(error) {
  return error.name === 'AbortError';
}

/**
 * Requests to the server of this page. Throws `RequestError` for a status that is an error, and the `TypeError` of
 * `fetch` when there was no response.
 */
export class Api {
  #token = '';
  #requests = new AbortController();

  /**
   * The server's description of the gallery, requested `count` times at once: a browser may try its dead connections
   * first. Its token is kept for requests with effects.
   */
  async gallery(count) {
    const requests = Array.from({ length: count }, () => this.json('/api/gallery'));
    const gallery = await Promise.any(requests).catch(() => requests[0]);
    if (count > 1) this.drop();
    this.#token = gallery.token;
    return gallery;
  }

  /** Ends all requests as if there were no connection: theirs may be dead. */
  drop() {
    this.#requests.abort(new TypeError('no response'));
    this.#requests = new AbortController();
  }

  async json(path, signal) {
    return (await this.#send(path, { signal })).json();
  }

  /** Bytes that can be requested again. Fails after a while, as a browser may still have a dead connection. */
  async bytes(path, signal) {
    const signals = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE)].filter(Boolean));
    return new Uint8Array(await (await this.#send(path, { signal: signals })).arrayBuffer());
  }

  /** A request with an effect. `keepalive` lets it outlive the page. */
  async post(path, body, { keepalive = false } = {}) {
    const response = await this.#send(path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Thumbs-Token': this.#token },
      body: JSON.stringify(body),
      keepalive,
    });
    return response.status === 204 ? null : response.json();
  }

  async #send(path, options) {
    const signals = [this.#requests.signal, options.signal].filter(Boolean);
    const response = await fetch(base + path, { cache: 'no-store', ...options, signal: AbortSignal.any(signals) });
    if (response.ok) return response;
    const { error, message } = await response.json().catch(() => ({}));
    throw new RequestError(response.status, error ?? 'unknown', message ?? `The server says ${response.status}.`);
  }
}
