/** How much one key press zooms by, and a wheel's unit of scrolling, of a pinch on a touch pad the latter. */
const STEP = 1.5;
const WHEEL = 0.002;
const PAD = 0.01;
/** CSS pixels in a line of scrolling. */
const LINE = 16;
/** CSS pixels that a key press moves by. */
const NUDGE = 80;
/** Two taps are one double tap within these milliseconds and CSS pixels. */
const DOUBLE = 300;
const NEAR = 30;
/** CSS pixels that a finger may move in a tap. */
const STILL = 8;
/** The part of its speed that a thrown image keeps each millisecond, and the speed at which it stops, per millisecond. */
const GLIDE = 0.995;
const SLOW = 0.02;

/**
 * Zooms and moves the image of a stage: by wheel, pinch, double click or tap, dragging and keys. Positions are CSS
 * pixels from the middle of the stage.
 */
export class Zoom {
  scale = 1;
  #stage;
  #slide;
  #changed;
  #x = 0;
  #y = 0;
  #pointers = new Map();
  #hover = { x: 0, y: 0 };
  #tap = null;
  #travel = 0;
  #speed = { x: 0, y: 0, time: 0 };
  #animation = 0;
  /** Where the pixels of an image of unknown size are wanted, as soon as its size is known. */
  #wish = null;

  /** `slide()` is the slide on the stage; `changed()` hears of each step. */
  constructor(stage, slide, changed) {
    this.#stage = stage;
    this.#slide = slide;
    this.#changed = changed;
    stage.addEventListener('wheel', (event) => this.#wheel(event), { passive: false });
    stage.addEventListener('pointerdown', (event) => this.#press(event));
    stage.addEventListener('pointermove', (event) => this.#move(event));
    stage.addEventListener('pointerup', (event) => this.#release(event));
    stage.addEventListener('pointercancel', ({ pointerId }) => this.#pointers.delete(pointerId));
    stage.addEventListener('pointerleave', () => (this.#hover = { x: 0, y: 0 }));
  }

  /** Shows the whole image again. */
  reset() {
    this.#stop();
    this.#set(1, 0, 0);
  }

  /** Keeps within its limits after the stage or the image has changed its size. */
  settle() {
    this.#set(this.scale, this.#x, this.#y);
    const point = this.#slide().item?.width && this.#wish;
    if (!point) return;
    this.reset();
    this.#toggle(point);
  }

  /** Zooms in (1) or out (-1) about the pointer. */
  step(direction) {
    this.#stop();
    this.#about(this.#hover, STEP ** direction, true);
  }

  /** Moves the view of a zoomed image. */
  nudge(right, down) {
    this.#stop();
    this.#set(this.scale, this.#x - right * NUDGE, this.#y - down * NUDGE, true);
  }

  #stop() {
    cancelAnimationFrame(this.#animation);
    this.#wish = null;
  }

  /** Between the whole image and its pixels, about a point. */
  #toggle(point) {
    const { actual, item } = this.#slide();
    this.#wish = this.scale > 1 || item?.width ? null : point;
    this.#about(point, this.scale > 1 ? 1 / this.scale : Math.max(actual, 2), true);
  }

  #about({ x, y }, factor, isSmooth = false) {
    const scale = Math.min(Math.max(this.scale * factor, 1), this.#slide().most);
    const ratio = scale / this.scale;
    this.#set(scale, x - (x - this.#x) * ratio, y - (y - this.#y) * ratio, isSmooth);
  }

  /** An image that is larger than the stage covers it; a smaller one stays in the middle. */
  #set(scale, x, y, isSmooth = false) {
    const slide = this.#slide();
    const { width, height } = slide.frameSize;
    const bound = (value, side, stage) => {
      const most = Math.max(0, (side * scale - stage) / 2);
      return Math.min(Math.max(value, -most), most);
    };
    this.scale = scale;
    this.#x = bound(x, width, this.#stage.clientWidth);
    this.#y = bound(y, height, this.#stage.clientHeight);
    this.#stage.classList.toggle('zoomed', scale > 1);
    slide.place(scale, this.#x, this.#y, isSmooth);
    this.#changed();
  }

  #point({ clientX, clientY }) {
    const { left, top, width, height } = this.#stage.getBoundingClientRect();
    return { x: clientX - left - width / 2, y: clientY - top - height / 2 };
  }

  #wheel(event) {
    event.preventDefault();
    this.#stop();
    const distance = event.deltaY * (event.deltaMode === 0 ? 1 : LINE);
    this.#about(this.#point(event), Math.exp(-distance * (event.ctrlKey ? PAD : WHEEL)));
  }

  #press(event) {
    this.#stop();
    if (event.button !== 0) return;
    this.#pointers.set(event.pointerId, this.#point(event));
    this.#travel = this.#pointers.size > 1 ? Infinity : 0;
    this.#speed = { x: 0, y: 0, time: event.timeStamp };
  }

  #move(event) {
    const point = this.#point(event);
    this.#hover = point;
    // A mouse that was let go outside of the stage.
    if (event.buttons === 0) this.#pointers.delete(event.pointerId);
    const former = this.#pointers.get(event.pointerId);
    if (!former) return;
    this.#travel += Math.hypot(point.x - former.x, point.y - former.y);
    const [one, two] = [...this.#pointers.values()];
    this.#pointers.set(event.pointerId, point);
    if (two) this.#pinch(former === one ? two : one, former, point);
    else if (this.scale > 1 && this.#travel > STILL) this.#drag(event, former, point);
  }

  /** One of two fingers has moved: what is between them stays there. */
  #pinch(other, former, point) {
    const apart = (finger) => Math.max(Math.hypot(finger.x - other.x, finger.y - other.y), 1);
    this.#x += (point.x - former.x) / 2;
    this.#y += (point.y - former.y) / 2;
    this.#about({ x: (point.x + other.x) / 2, y: (point.y + other.y) / 2 }, apart(point) / apart(former));
  }

  #drag(event, former, point) {
    // From here on the pointer is not a click.
    this.#stage.setPointerCapture(event.pointerId);
    const elapsed = Math.max(event.timeStamp - this.#speed.time, 1);
    this.#speed = {
      x: (point.x - former.x) / elapsed,
      y: (point.y - former.y) / elapsed,
      time: event.timeStamp,
    };
    this.#set(this.scale, this.#x + point.x - former.x, this.#y + point.y - former.y);
  }

  #release(event) {
    if (!this.#pointers.delete(event.pointerId) || this.#pointers.size > 0) return;
    if (this.#travel <= STILL) this.#tapped(event);
    else if (event.timeStamp - this.#speed.time < 50) this.#glide(this.#speed, performance.now());
  }

  #tapped(event) {
    const point = this.#point(event);
    const last = this.#tap;
    const isNear = last && Math.hypot(point.x - last.x, point.y - last.y) < NEAR;
    const isDouble = isNear && event.timeStamp - last.time < DOUBLE;
    this.#tap = isDouble ? null : { ...point, time: event.timeStamp };
    if (isDouble && event.target.closest('.frame')) this.#toggle(point);
  }

  /** The image goes on for a while after it was let go. */
  #glide({ x, y }, before) {
    if (Math.hypot(x, y) < SLOW || matchMedia('(prefers-reduced-motion: reduce)').matches) return;
    this.#animation = requestAnimationFrame((now) => {
      const elapsed = Math.max(now - before, 0);
      this.#set(this.scale, this.#x + x * elapsed, this.#y + y * elapsed);
      this.#glide({ x: x * GLIDE ** elapsed, y: y * GLIDE ** elapsed }, now);
    });
  }
}
