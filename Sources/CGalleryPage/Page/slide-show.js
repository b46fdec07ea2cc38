/** Milliseconds without a movement of the pointer until only the picture is shown. */
const REST = 2500;
const SECOND = 1000;

/** Goes on to the next picture after an interval that begins when the present one has loaded. */
export class SlideShow {
  #view;
  #button;
  #interval;
  #next;
  #timer = 0;
  #rest = 0;
  #lock = null;

  /** `view` contains the button and the choice of the interval; `next()` returns false at the end. */
  constructor(view, next) {
    this.#view = view;
    this.#button = view.querySelector('.play');
    this.#interval = view.querySelector('.interval');
    this.#next = next;
    this.#button.addEventListener('click', () => this.toggle());
    this.#interval.addEventListener('change', () => this.wait());
    for (const type of ['pointermove', 'pointerdown', 'keydown']) view.addEventListener(type, () => this.#wake());
    document.addEventListener('visibilitychange', () => this.isPlaying && this.#follow());
  }

  get isPlaying() {
    return this.#view.classList.contains('playing');
  }

  toggle() {
    if (this.isPlaying) return this.stop();
    this.#show(true);
    this.#wake();
    this.#follow();
  }

  stop() {
    if (!this.isPlaying) return;
    clearTimeout(this.#timer);
    clearTimeout(this.#rest);
    this.#show(false);
    this.#view.classList.remove('resting');
    this.#lock?.then((lock) => lock?.release());
  }

  /** Begins the interval anew, in a tab that is visible. */
  wait() {
    clearTimeout(this.#timer);
    if (this.isPlaying && !document.hidden) this.#timer = setTimeout(() => this.#goOn(), this.#interval.value * SECOND);
  }

  #goOn() {
    if (this.isPlaying && !document.hidden && !this.#next()) this.stop();
  }

  /** A hidden tab pauses, and has lost its lock. */
  #follow() {
    this.wait();
    // Only a few browsers have it, and only on secure pages: without it the screen may go dark.
    if (!document.hidden) this.#lock = navigator.wakeLock?.request('screen').catch(() => null) ?? null;
  }

  #show(isPlaying) {
    this.#view.classList.toggle('playing', isPlaying);
    this.#button.ariaPressed = isPlaying;
    this.#interval.hidden = !isPlaying;
  }

  #wake() {
    this.#view.classList.remove('resting');
    clearTimeout(this.#rest);
    if (this.isPlaying) this.#rest = setTimeout(() => this.#view.classList.add('resting'), REST);
  }
}
