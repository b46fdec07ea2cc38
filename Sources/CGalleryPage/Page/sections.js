/** The last position in the ascending `starts` whose value is at most `value`. */
export function lastAtMost(starts, value, length = starts.length) {
  let low = 0;
  let high = length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (starts[middle] <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The sections of the results, and the index of each one's first item: prefix sums for binary search. */
export class Sections {
  constructor(sections) {
    this.all = sections.filter((section) => section.count > 0);
    this.firsts = [];
    this.count = 0;
    for (const section of this.all) {
      this.firsts.push(this.count);
      this.count += section.count;
    }
  }

  /** The number of the section that holds an item. */
  of(index) {
    return lastAtMost(this.firsts, index);
  }

  title(number) {
    return this.all[number]?.title ?? null;
  }
}
