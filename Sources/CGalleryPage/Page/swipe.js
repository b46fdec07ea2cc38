/** Part of the width, or speed in CSS pixels a millisecond, from which a swipe counts. */
const FAR = 0.25;
const FAST = 0.4;
/** CSS pixels downwards that close the view. */
const DOWN = 110;
/** CSS pixels until it is clear which way a finger goes. */
const SLOP = 8;
/** Milliseconds after which a press is one that stays. */
const HOLD = 250;
/** CSS pixels at the lower edge of a film that its controls take. */
const CONTROLS = 72;
/** Milliseconds and CSS pixels within which two clicks are a double click. The first one takes a while to close the view. */
const MOMENT = 500;
const NEARBY = 30;

/** The click that counted last. */
let start = {};

// The second click of two does not count where the first one has taken away what was there. Keys, which click too, do.
addEventListener('click', (event) => {
  const { timeStamp, clientX, clientY } = event;
  if (event.detail && timeStamp - start.timeStamp < MOMENT && !start.target.checkVisibility()
    && (start.target.closest('#viewer') || Math.hypot(clientX - start.clientX, clientY - start.clientY) < NEARBY)) {
    event.preventDefault();
    event.stopPropagation();
  } else start = event;
}, true);

/**
 * Follows a finger over the stage: sideways to the next image, down to close. `handlers`: `moved(x, y)` while it is
 * down, `swiped(step)` with 1, -1 or 0 (back to the middle), `dismissed()`. `isFree()` is whether swipes are wanted.
 */
export function followSwipes(stage, handlers) {
  let start = null;
  let axis = null;

  stage.addEventListener('pointerdown', (event) => {
    if (!event.isPrimary) return cancel();
    if (event.pointerType === 'mouse' || !handlers.isFree()) return;
    if (event.target.controls && event.offsetY > event.target.clientHeight - CONTROLS) return;
    start = { x: event.clientX, y: event.clientY, time: event.timeStamp, id: event.pointerId };
    axis = null;
  });
  stage.addEventListener('pointermove', (event) => {
    if (event.pointerId !== start?.id) return;
    const x = event.clientX - start.x;
    const y = event.clientY - start.y;
    if (axis === null && Math.max(Math.abs(x), Math.abs(y)) > SLOP) {
      axis = Math.abs(x) > Math.abs(y) ? 'x' : 'y';
      stage.setPointerCapture(event.pointerId);
    }
    if (axis === 'x') handlers.moved(x, 0);
    else if (axis === 'y') handlers.moved(0, Math.max(y, 0));
  });
  stage.addEventListener('pointerup', (event) => {
    if (event.pointerId !== start?.id) return;
    const x = event.clientX - start.x;
    const y = event.clientY - start.y;
    const speed = x / Math.max(event.timeStamp - start.time, 1);
    const isSwipe = Math.abs(x) > stage.clientWidth * FAR || Math.abs(speed) > FAST;
    const taken = axis;
    start = null;
    if (taken === 'y' && y > DOWN) handlers.dismissed();
    else if (taken) handlers.swiped(taken === 'x' && isSwipe ? -Math.sign(x) : 0);
  });
  stage.addEventListener('pointercancel', cancel);

  function cancel() {
    if (start && axis) handlers.swiped(0);
    start = null;
  }
}

/** Calls `held(true)` while a finger or the mouse stays on the image, and `held(false)` when it is let go. */
export function followPress(stage, held) {
  let start = null;
  let timer = 0;
  const end = () => {
    clearTimeout(timer);
    held(false);
  };
  stage.addEventListener('pointerdown', (event) => {
    start = event;
    // Clicks do not tell it in all browsers.
    stage.isMouse = event.pointerType === 'mouse';
    if (event.button === 0 && event.target.closest('.frame')) timer = setTimeout(() => held(true), HOLD);
  });
  stage.addEventListener('pointermove', ({ clientX, clientY }) => {
    if (start && Math.hypot(clientX - start.clientX, clientY - start.clientY) > SLOP) clearTimeout(timer);
  });
  for (const type of ['pointerup', 'pointercancel', 'pointerleave']) stage.addEventListener(type, end);
}
