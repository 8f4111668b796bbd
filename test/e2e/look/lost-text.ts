/** Words outside the window or cut off, with nothing to scroll or unfold and no tooltip. Runs in the document. */
export function lostText(): string[] {
  const lost: string[] = [];
  const { scrollWidth } = document.documentElement;
  if (scrollWidth > innerWidth) lost.push(`cut off: the page is ${scrollWidth} pixels wide`);
  for (const element of document.querySelectorAll<HTMLElement>("#app *")) {
    const words = [...element.childNodes].find(
      (node) => node.nodeType === Node.TEXT_NODE && (node.textContent ?? "").trim() !== "",
    )?.textContent;
    if (!words || element.closest(".spoken, option, [title], [aria-expanded], [aria-hidden='true']") !== null) continue;
    const range = document.createRange();
    range.selectNodeContents(element);
    const box = range.getBoundingClientRect();
    if (box.width === 0 || getComputedStyle(element).visibility === "hidden") continue;
    let [left, right] = [0, innerWidth];
    for (let around: Element | null = element; around instanceof HTMLElement; ) {
      const { overflowX, position } = getComputedStyle(around);
      // What can be scrolled to is not lost.
      if (overflowX === "auto" || overflowX === "scroll") [left, right] = [-Infinity, Infinity];
      if (overflowX === "auto" || overflowX === "scroll") break;
      if (overflowX !== "visible") {
        const edges = around.getBoundingClientRect();
        left = Math.max(left, edges.left);
        right = Math.min(right, edges.right);
      }
      around = position === "absolute" || position === "fixed" ? around.offsetParent : around.parentElement;
    }
    if (box.left < left - 1 || box.right > right + 1) {
      lost.push(`cut off: <${element.tagName.toLowerCase()} class="${element.className}"> ${words.slice(0, 60)}`);
    }
  }
  return lost;
}
