/** Milliseconds after a gesture within which its scrolling begins, also on a busy machine. */
const effectMilliseconds = 500;

const keysUp: ReadonlySet<string> = new Set(["ArrowUp", "PageUp", "Home", " "]);

/** Tells whether a person scrolled up: the browser also scrolls by itself when the content becomes smaller. */
export class ScrollGesture {
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
