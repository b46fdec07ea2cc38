import { counted, element, number, pictures, sentence } from './words.js';

/** Milliseconds before a screen reader announces a state, so that it does not repeat itself while the user types. */
const LIVE_PAUSE = 500;

/** The page's messages: the strip below the bar, the pane in place of pictures, and the foot of the grid. */
export class Notices {
  #elements;
  #retry;
  #timer = 0;
  #isAlive = true;
  #snapshot = null;
  #said = '';
  /** The server's description of the gallery. */
  gallery = {};

  /** `elements`: strip, state, foot, count, hidden, live. The buttons call `retry()` and `showHidden()`. */
  constructor(elements, { retry, showHidden }) {
    this.#elements = elements;
    this.#retry = retry;
    elements.hidden.addEventListener('click', showHidden);
  }

  /** Whether the server of this page responds. */
  set isAlive(isAlive) {
    if (this.#isAlive === isAlive) return;
    this.#isAlive = isAlive;
    this.#showStrip();
  }

  /** Shows the state of the results. */
  show(snapshot) {
    const former = this.#snapshot;
    this.#snapshot = snapshot;
    this.#showState(snapshot.generation !== former?.generation || snapshot.count !== former.count);
    this.#showFoot();
    this.#showStrip();
    this.#elements.count.textContent = this.#count();
    this.#showHidden(snapshot.hidden);
  }

  /** Says something to a screen reader. */
  say(text) {
    this.#elements.live.textContent = '';
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#elements.live.textContent = text;
    }, LIVE_PAUSE);
  }

  #count() {
    const { count, total, more } = this.#snapshot;
    if (count === 0) return '';
    return more && total === null ? `${pictures(count)} so far` : pictures(total ?? count);
  }

  /** The number of hidden pictures. */
  #showHidden(count) {
    const { hidden } = this.#elements;
    hidden.textContent = `${number(count)} hidden – show`;
    hidden.hidden = count === 0;
  }

  #showStrip() {
    const { strip } = this.#elements;
    let text = '';
    if (!this.#isAlive) text = 'The server does not respond. Trying again…';
    else if (this.#snapshot?.offline) text = 'No connection. Stored pictures are shown.';
    else if (this.#snapshot?.dating) {
      const [read, all] = this.#snapshot.dating.map(number);
      text = `Reading dates: ${read} of ${all}. Until then the times of the files give the order.`;
    }
    if (strip.textContent === text) return;
    strip.textContent = text;
    strip.classList.toggle('lost', !this.#isAlive);
    strip.hidden = text === '';
    // Numbers that grow are not announced.
    const [said, former] = [text.replace(/\d.*\d/, 'some'), this.#said];
    this.#said = said;
    if (said === former || (!text && this.#snapshot.state === 'failed')) return;
    this.say(text || (former.startsWith('R') ? 'All dates are read.' : 'The connection is back.'));
  }

  #showState(isNews) {
    const { state, count, message, query } = this.#snapshot;
    const { state: pane } = this.#elements;
    const words = count > 0 ? null : this.#words(state, message, query);
    const text = words ? words.join('\n') : '';
    if (pane.dataset.text !== text) {
      pane.dataset.text = text;
      pane.replaceChildren();
      if (words) {
        const [title, detail] = words;
        pane.append(element('h2', title));
        if (detail) pane.append(element('p', sentence(detail)));
        if (state === 'failed') pane.append(this.#button());
      }
      pane.hidden = !words;
    }
    if (words) this.say(words.filter(Boolean).map(sentence).join(' '));
    else if (isNews && state === 'loaded') this.say(this.#count());
  }

  #words(state, message, query) {
    switch (state) {
      case 'empty':
        if (query) return [message ?? `No pictures for “${query}”`, 'Try other or fewer words.'];
        return [message ?? 'There are no pictures here', null];
      case 'failed':
        return ['That did not work', message ?? 'Try again.'];
      case 'offline':
        // The server's message has words of its network library.
        return ['No connection', 'The search goes on by itself when the connection is back.'];
      case 'idle':
        return query || this.gallery.picksRandom ? null : ['What would you like to see?', 'Type a word above.'];
      default:
        return null;
    }
  }

  #showFoot() {
    const { state, count, message, more, films } = this.#snapshot;
    const { foot } = this.#elements;
    const kind = count === 0 ? '' : state === 'failed' ? 'failed' : more || state === 'loadingNextPage' ? 'loading' : 'end';
    const text = {
      loading: 'More pictures are coming',
      failed: sentence(message ?? 'no more pictures came'),
      end: count === 1 ? 'That is the only picture.' : `That is all: ${pictures(count)}.`,
    }[kind] ?? '';
    const unshown = films && kind !== 'loading' ? `${counted(films, 'film')} not shown.` : '';
    const whole = [text, unshown].filter(Boolean).join(' ');
    if (foot.dataset.kind === kind && foot.dataset.text === whole) return;
    Object.assign(foot.dataset, { kind, text: whole });
    foot.replaceChildren(...(whole ? [element('span', whole)] : []));
    if (kind !== 'failed') return;
    foot.append(this.#button());
    this.say(text);
  }

  #button() {
    return element('button', 'Retry', { onclick: this.#retry });
  }
}

/** Milliseconds that a message stays. */
const STAY = 8000;

/** A message at the lower edge that disappears by itself, and may offer one action, such as to undo. */
export class Toast {
  #element;
  #timer = 0;
  #action = null;
  /** The subject of the current message, from `show`; null if there is none. */
  subject = null;

  constructor(element) {
    this.#element = element;
    const hold = () => clearTimeout(this.#timer);
    element.addEventListener('pointerenter', hold);
    element.addEventListener('pointerleave', () => this.#wait());
    element.addEventListener('focusin', hold);
    element.addEventListener('focusout', () => this.#wait());
    addEventListener('keydown', (event) => {
      const isUndo = event.key === 'z' && (event.ctrlKey || event.metaKey) && !event.shiftKey;
      if (!isUndo || !this.#action || event.target.matches?.('input')) return;
      event.preventDefault();
      this.#act();
    });
  }

  /** Shows a text in place of the last one. `host` is the topmost element: a modal dialog makes all others inert. */
  show(text, { host = document.body, label = null, action = null, subject = null } = {}) {
    this.#action = action;
    this.subject = subject;
    this.#element.replaceChildren(element('span', text));
    if (label) {
      this.#element.append(element('button', label, { onclick: () => this.#act() }));
    }
    host.append(this.#element);
    this.#element.hidden = false;
    this.#wait();
  }

  /** Moves the message to the topmost element. */
  moveTo(host) {
    host.append(this.#element);
  }

  #act() {
    const action = this.#action;
    this.#close();
    action?.();
  }

  #wait() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#close(), STAY);
  }

  #close() {
    clearTimeout(this.#timer);
    this.#action = null;
    this.subject = null;
    this.#element.hidden = true;
  }
}
