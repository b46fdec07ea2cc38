/** Part of the width, or speed in CSS pixels a millisecond, from which a swipe counts. */
const FAR = 0.25;
const FAST = 0.4;
/** CSS pixels downwards that close the view. */
const DOWN = 110;
/** CSS pixels until it is clear which way a finger goes. */
const SLOP = 8;
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
