import { HeightIndex } from "./height-index.ts";

export interface ListElements {
  /** The element that scrolls. */
  readonly scroller: HTMLElement;
  /** Element as high as all rows together. */
  readonly sizer: HTMLElement;
  /** Contains the rows that are drawn; each has its number in `data-row`. */
  readonly rows: HTMLElement;
}

/** Pixels beyond both edges in which rows are drawn as well. */
const margin = 600;
/** Pixels from the end within which the reader counts as being at the end. */
const nearEnd = 32;

/** Decides which rows of a long list are drawn, and keeps the reader's place. */
export class ListWindow {
  readonly #heights = new HeightIndex();
  readonly #draw: () => void;
  readonly #watched = new Set<Element>();
  #elements: ListElements | undefined;
  #resizes: ResizeObserver | undefined;
  #range = { start: 0, end: 0 };
  #atEnd = true;
  #lastTop = 0;
  /** Sizes of the scroller when it was last scrolled to its end. */
  #sizeAtEnd = { shown: 0, all: 0 };
  readonly #gesture = new ScrollGesture();
  #focusRow: number | undefined;

  /** @param draw called when other rows must be drawn */
  constructor(draw: () => void) {
    this.#draw = draw;
  }

  get range(): { readonly start: number; readonly end: number } {
    return this.#range;
  }

  get atEnd(): boolean {
    return this.#atEnd;
  }

  /** Rows are only ever added. */
  grow(count: number, estimate: (row: number) => number): void {
    if (count === this.#heights.count) return;
    while (this.#heights.count < count) this.#heights.append(estimate(this.#heights.count));
    this.#range = this.#wanted();
  }

  /** @returns a function that detaches */
  attach(elements: ListElements): () => void {
    this.#elements = elements;
    const { scroller } = elements;
    this.#resizes = new ResizeObserver((entries) => this.#measured(entries.map(({ target }) => target)));
    this.#resizes.observe(scroller);
    const onScroll = () => this.#scrolled();
    scroller.addEventListener("scroll", onScroll, { passive: true });
    const releaseGesture = this.#gesture.attach(scroller);
    this.#update();
    return () => {
      releaseGesture();
      scroller.removeEventListener("scroll", onScroll);
      this.#resizes?.disconnect();
      this.#watched.clear();
      this.#elements = undefined;
    };
  }

  /** Call it when the rows of `range` are in the document. */
  drawn(): void {
    if (this.#elements === undefined) return;
    const { rows } = this.#elements;
    const present = new Set<Element>(rows.children);
    for (const row of this.#watched) {
      if (present.has(row)) continue;
      this.#watched.delete(row);
      this.#resizes?.unobserve(row);
    }
    for (const row of present) {
      if (this.#watched.has(row)) continue;
      this.#watched.add(row);
      this.#resizes?.observe(row);
    }
    this.#measured([...present]);
    this.#takeFocus();
  }

  toEnd(): void {
    this.#atEnd = true;
    this.#update();
    this.#draw();
  }

  /** Scrolls a row to the top, and makes it the row that keys start from. */
  show(row: number): void {
    const { scroller } = this.#elements ?? {};
    if (scroller === undefined || row >= this.#heights.count) return;
    this.#atEnd = false;
    this.#focusRow = row;
    scroller.scrollTop = this.#heights.offset(row);
    this.#lastTop = scroller.scrollTop;
    this.#update();
    this.#draw();
  }

  key(event: KeyboardEvent): void {
    const target = event.target instanceof Element ? event.target : undefined;
    const scroller = this.#elements?.scroller;
    const current = rowOf(target);
    if (target !== scroller && target?.getAttribute("data-row") === null) return;
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const last = this.#heights.count - 1;
    const from = current ?? this.#heights.rowAt(this.#lastTop + (scroller?.clientHeight ?? 0) / 2);
    const to = { ArrowDown: from + 1, ArrowUp: from - 1, Home: 0, End: last }[event.key];
    if (event.key === "Enter" && current !== undefined) {
      target?.querySelector<HTMLElement>("[aria-expanded], button, a")?.click();
      event.preventDefault();
    }
    if (to === undefined) return;
    event.preventDefault();
    // A row whose content is not shown has no height.
    const step = to < from || event.key === "End" ? -1 : 1;
    let next = Math.min(last, Math.max(0, to));
    while (this.#heights.height(next) === 0 && next + step >= 0 && next + step <= last) next += step;
    this.#focus(next);
  }

  #focus(row: number): void {
    const { scroller } = this.#elements ?? {};
    if (scroller === undefined) return;
    this.#focusRow = row;
    const top = this.#heights.offset(row);
    const bottom = top + this.#heights.height(row);
    if (top < scroller.scrollTop) scroller.scrollTop = top;
    else if (bottom > scroller.scrollTop + scroller.clientHeight) {
      scroller.scrollTop = Math.min(top, bottom - scroller.clientHeight);
    }
    this.#scrolled();
    this.#draw();
  }

  #takeFocus(): void {
    if (this.#focusRow === undefined) return;
    const row = this.#elements?.rows.querySelector<HTMLElement>(`[data-row="${this.#focusRow}"]`);
    if (row === null || row === undefined) return;
    this.#focusRow = undefined;
    row.focus({ preventScroll: true });
  }

  #scrolled(): void {
    if (this.#elements === undefined) return;
    const { scroller } = this.#elements;
    const { scrollTop } = scroller;
    const wasAtEnd = this.#atEnd;
    if (scroller.scrollHeight - scrollTop - scroller.clientHeight <= nearEnd) this.#atEnd = true;
    // Content may grow and shrink while it is shown: that does not mean that the reader moved.
    else if (scrollTop < this.#lastTop - 1 && (this.#gesture.recent || this.#sameSize())) this.#atEnd = false;
    else if (wasAtEnd) return this.#update();
    this.#lastTop = scrollTop;
    const wanted = this.#wanted();
    const same = wanted.start === this.#range.start && wanted.end === this.#range.end;
    this.#range = wanted;
    if (!same) this.#place();
    if (!same || wasAtEnd !== this.#atEnd) this.#draw();
  }

  /** The browser scrolls by itself only if one of these sizes changed. */
  #sameSize(): boolean {
    const { shown, all } = this.#sizeAtEnd;
    return this.#elements?.scroller.clientHeight === shown && this.#elements.scroller.scrollHeight === all;
  }

  #measured(elements: readonly Element[]): void {
    if (this.#elements === undefined) return;
    const { scroller } = this.#elements;
    const top = this.#heights.rowAt(scroller.scrollTop);
    let above = 0;
    for (const element of elements) {
      const row = Number(element.getAttribute("data-row") ?? Number.NaN);
      if (Number.isNaN(row)) continue;
      const height = element.getBoundingClientRect().height;
      if (row < top) above += height - this.#heights.height(row);
      this.#heights.set(row, height);
    }
    // Keeps the rows that the reader sees in place.
    if (above !== 0 && !this.#atEnd) {
      this.#place();
      scroller.scrollTop += above;
      this.#lastTop = scroller.scrollTop;
    }
    this.#update();
  }

  #update(): void {
    if (this.#elements === undefined) return;
    const { scroller } = this.#elements;
    this.#place();
    if (this.#atEnd) {
      scroller.scrollTop = scroller.scrollHeight;
      this.#lastTop = scroller.scrollTop;
      this.#sizeAtEnd = { shown: scroller.clientHeight, all: scroller.scrollHeight };
    }
    const wanted = this.#wanted();
    if (wanted.start === this.#range.start && wanted.end === this.#range.end) return;
    this.#range = wanted;
    this.#draw();
  }

  #place(): void {
    if (this.#elements === undefined) return;
    const { sizer, rows } = this.#elements;
    sizer.style.height = `${this.#heights.total}px`;
    rows.style.transform = `translateY(${this.#heights.offset(this.#range.start)}px)`;
  }

  #wanted(): { readonly start: number; readonly end: number } {
    const { count } = this.#heights;
    if (count === 0) return { start: 0, end: 0 };
    const height = this.#elements?.scroller.clientHeight ?? 800;
    const top = this.#atEnd ? Math.max(0, this.#heights.total - height) : (this.#elements?.scroller.scrollTop ?? 0);
    const start = Math.max(0, this.#heights.rowAt(Math.max(0, top - margin)));
    const end = Math.min(count, this.#heights.rowAt(top + height + margin) + 1);
    return { start, end };
  }
}

function rowOf(element: Element | undefined): number | undefined {
  const row = element?.closest("[data-row]")?.getAttribute("data-row");
  return row === undefined || row === null ? undefined : Number(row);
}

/** Milliseconds after a gesture within which its scrolling begins, also on a busy machine. */
const effectMilliseconds = 500;

const keysUp: ReadonlySet<string> = new Set(["ArrowUp", "PageUp", "Home", " "]);

/** Tells whether a person scrolled up: the browser also scrolls by itself when the content becomes smaller. */
class ScrollGesture {
  #at = Number.NEGATIVE_INFINITY;

  /** @returns a function that detaches */
  attach(scroller: HTMLElement): () => void {
    const listening = new AbortController();
    const options = { passive: true, signal: listening.signal };
    const happened = () => {
      this.#at = performance.now();
    };
    scroller.addEventListener("wheel", ({ deltaY }) => deltaY < 0 && happened(), options);
    scroller.addEventListener("touchmove", happened, options);
    scroller.addEventListener("keydown", ({ key }) => keysUp.has(key) && happened(), options);
    // The scroll bar belongs to the scroller itself. With a button held, a selection can be dragged beyond the edge.
    scroller.addEventListener("pointerdown", ({ target }) => target === scroller && happened(), options);
    scroller.addEventListener("pointermove", ({ buttons }) => buttons !== 0 && happened(), options);
    return () => listening.abort();
  }

  get recent(): boolean {
    return performance.now() - this.#at < effectMilliseconds;
  }
}
