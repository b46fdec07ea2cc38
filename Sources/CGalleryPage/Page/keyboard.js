/** Part of the viewport that a page key moves by. */
const PAGE = 0.9;

/** The topmost dialog; undefined if none is open. */
export function openDialog() {
  return [...document.querySelectorAll('dialog[open]')].at(-1);
}

/** The key that was pressed for the grid: null with a modifier, in a field, and under a dialog, wherever the focus is. */
export function gridKey({ key, ctrlKey, metaKey, altKey, target }) {
  const isElsewhere = openDialog() || target.closest?.('input, select, textarea');
  return ctrlKey || metaKey || altKey || isElsewhere ? null : key;
}

/** Moves between the cells of the grid by keys, as in a table: only one of them takes part in the tab order. */
export class GridKeyboard {
  #grid;

  /**
   * Enter calls `open(index)`, Delete `hide(index)`, X `select(index)`, and an arrow with Shift `extend(index)` with
   * the index that it moves to.
   */
  constructor(element, grid, { open, hide, select, extend }) {
    this.#grid = grid;
    element.addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !grid.layout?.count) return;
      const { active } = grid;
      const act = { Enter: open, ' ': open, Delete: hide, x: select }[event.key];
      if (act) {
        // A key that is held acts once.
        if (!event.repeat) act(active);
      } else {
        const target = this.#target(event.key, active);
        if (target === null) return;
        const index = Math.min(Math.max(target, 0), grid.layout.count - 1);
        if (event.shiftKey) extend(index);
        grid.focus(index);
      }
      event.preventDefault();
    });
    element.addEventListener('focusin', ({ target }) => {
      if (target.cell) grid.setActive(target.cell.index);
    });
  }

  #target(key, active) {
    const targets = {
      ArrowLeft: () => active - 1,
      ArrowRight: () => active + 1,
      ArrowUp: () => this.#vertical(active, (row) => row - 1),
      ArrowDown: () => this.#vertical(active, (row) => row + 1),
      PageUp: () => this.#vertical(active, (row) => this.#page(row, -1)),
      PageDown: () => this.#vertical(active, (row) => this.#page(row, 1)),
      Home: () => 0,
      End: () => this.#grid.layout.count - 1,
    };
    return targets[key]?.() ?? null;
  }

  /** The row a screen further, but at least one row. */
  #page(row, direction) {
    const { layout, viewportHeight } = this.#grid;
    const { top } = layout.row(row);
    const target = layout.rowAt(Math.max(top + direction * viewportHeight * PAGE, 0));
    return direction > 0 ? Math.max(target, row + 1) : Math.min(target, row - 1);
  }

  /** The item of another row that is nearest to the middle of the active one. */
  #vertical(active, move) {
    const { layout } = this.#grid;
    const row = layout.rowOf(active);
    const target = move(row);
    if (target < 0) return row === 0 ? active : this.#nearest(0, this.#middle(row, active));
    if (target >= layout.rowCount) return layout.count - 1;
    return this.#nearest(target, this.#middle(row, active));
  }

  #middle(row, index) {
    const { layout } = this.#grid;
    const { first, height } = layout.row(row);
    let left = 0;
    for (let other = first; other < index; other += 1) left += layout.cellWidth(other, height) + layout.spacing;
    return left + layout.cellWidth(index, height) / 2;
  }

  #nearest(row, middle) {
    const { layout } = this.#grid;
    const { first, count, height } = layout.row(row);
    let right = 0;
    for (let index = first; index < first + count; index += 1) {
      right += layout.cellWidth(index, height) + layout.spacing;
      if (right > middle) return index;
    }
    return first + count - 1;
  }
}
