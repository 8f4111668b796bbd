/**
 * Heights of the rows of a list, and their sums. To read an offset, find a row or change a height takes time logarithmic in the
 * number of rows.
 */
export class HeightIndex {
  #heights: number[] = [];
  /** A Fenwick tree: entry i holds the sum of the rows (i - lowest bit of i, i], counted from 1. */
  #sums: number[] = [0];

  get count(): number {
    return this.#heights.length;
  }

  get total(): number {
    return this.offset(this.#heights.length);
  }

  height(row: number): number {
    return this.#heights[row] ?? 0;
  }

  append(height: number): void {
    const at = this.#heights.push(height);
    const low = at & -at;
    let sum = height;
    for (let child = at - 1; child > at - low; child -= child & -child) sum += this.#sums[child] ?? 0;
    this.#sums.push(sum);
  }

  set(row: number, height: number): void {
    const change = height - this.height(row);
    if (change === 0 || row >= this.#heights.length) return;
    this.#heights[row] = height;
    for (let at = row + 1; at < this.#sums.length; at += at & -at) this.#sums[at] = (this.#sums[at] ?? 0) + change;
  }

  /** Offset at which a row begins: the sum of all heights before it. */
  offset(row: number): number {
    let sum = 0;
    for (let at = Math.min(row, this.#heights.length); at > 0; at -= at & -at) sum += this.#sums[at] ?? 0;
    return sum;
  }

  /** The row at an offset; the first row for offsets before the beginning, the last one beyond the end; -1 if there are none. */
  rowAt(offset: number): number {
    let at = 0;
    let left = offset;
    for (let step = highestBit(this.#heights.length); step > 0; step >>= 1) {
      const next = at + step;
      const sum = this.#sums[next];
      if (sum !== undefined && next <= this.#heights.length && sum <= left) {
        at = next;
        left -= sum;
      }
    }
    return Math.min(at, this.#heights.length - 1);
  }
}

function highestBit(value: number): number {
  return value === 0 ? 0 : 2 ** (31 - Math.clz32(value));
}
