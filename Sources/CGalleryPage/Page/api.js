/** A response whose status is an error, with the server's message. */
class RequestError extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** Ends a request after the longest time for a response, in milliseconds. */
const timeout = () => AbortSignal.timeout(20_000);

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
    return (await this.#send(path, {}, signal)).json();
  }

  /** Bytes that can be requested again. Fails after a while, as a browser may still have a dead connection. */
  async bytes(path, signal) {
    return new Uint8Array(await (await this.#send(path, {}, signal, timeout())).arrayBuffer());
  }

  /** A request with an effect. `keepalive` lets it outlive the page; a `brief` one fails after a while. */
  async post(path, body, { keepalive, brief } = {}) {
    const options = {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Thumbs-Token': this.#token },
      body: JSON.stringify(body),
      keepalive,
    };
    const response = await this.#send(path, options, brief && timeout());
    return response.status === 204 ? null : response.json();
  }

  async #send(path, options, ...signals) {
    const signal = AbortSignal.any([this.#requests.signal, ...signals].filter(Boolean));
    const response = await fetch(base + path, { cache: 'no-store', ...options, signal });
    if (response.ok) return response;
    const { error, message } = await response.json().catch(() => ({}));
    throw new RequestError(response.status, error ?? 'unknown', message ?? `The server says ${response.status}.`);
  }
}
