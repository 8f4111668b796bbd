// @vitest-environment happy-dom

import { h, render } from "preact";
import { afterEach, describe, expect, it, vi } from "vitest";
import { VirtualList } from "#chat/virtual-list.tsx";

/** happy-dom has no layout: rows are 20 pixels high, the list is 200. */
function layOut(root: HTMLElement) {
  vi.spyOn(HTMLElement.prototype, "getBoundingClientRect").mockImplementation(() => new DOMRect(0, 0, 100, 20));
  vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(200);
  vi.spyOn(HTMLElement.prototype, "scrollHeight", "get").mockImplementation(() => {
    const sizer = root.querySelector<HTMLElement>(".list-sizer");
    return Number.parseFloat(sizer?.style.height ?? "0");
  });
}

function listIn(root: HTMLElement) {
  layOut(root);
  const draw = (count: number) =>
    render(
      h(VirtualList, {
        count,
        label: "Rows",
        jumpLabel: "Jump",
        estimate: () => 20,
        keyOf: (row) => `${row}`,
        row: (row) => `row ${row}`,
        nameOf: (row) => `Row ${row}`,
      }),
      root,
    );
  const scroller = () => root.querySelector<HTMLElement>(".list-scroller") ?? root;
  const rows = () => [...root.querySelectorAll(".list-row")].map((row) => row.textContent);
  const scrollTo = (top: number) => {
    scroller().scrollTop = top;
    scroller().dispatchEvent(new Event("scroll"));
  };
  return { draw, scroller, rows, scrollTo };
}

afterEach(() => vi.restoreAllMocks());

describe("a long list", () => {
  it("has only what is seen in the document, and begins at its end", async () => {
    const { draw, rows } = listIn(document.createElement("div"));
    draw(10_000);
    await vi.waitFor(() => expect(rows().at(-1)).toBe("row 9999"));
    expect(rows().length).toBeLessThan(100);
  });

  it("stays at its end when the browser scrolls because the size of the list changed, not when a person does", async () => {
    const root = document.createElement("div");
    const { draw, rows, scroller, scrollTo } = listIn(root);
    draw(1000);
    await vi.waitFor(() => expect(rows().at(-1)).toBe("row 999"));
    const height = vi.spyOn(HTMLElement.prototype, "clientHeight", "get").mockReturnValue(100);
    scrollTo(4000);
    expect(scroller().scrollTop).toBeGreaterThan(19_000);
    expect(rows().at(-1)).toBe("row 999");
    height.mockReturnValue(150);
    scroller().dispatchEvent(new WheelEvent("wheel", { deltaY: -100 }));
    scrollTo(4000);
    await vi.waitFor(() => expect(rows()).toContain("row 200"));
    expect(root.querySelector(".jump")).not.toBeNull();
  });

  it("tells how many rows there are and where each stands", async () => {
    const root = document.createElement("div");
    const { draw, rows } = listIn(root);
    draw(500);
    await vi.waitFor(() => expect(rows().at(-1)).toBe("row 499"));
    const last = [...root.querySelectorAll(".list-row")].at(-1);
    expect(last?.getAttribute("aria-posinset")).toBe("500");
    expect(last?.getAttribute("aria-setsize")).toBe("500");
  });

  it("goes from row to row by keys", async () => {
    const root = document.body.appendChild(document.createElement("div"));
    const { draw, scroller, rows } = listIn(root);
    draw(1000);
    await vi.waitFor(() => expect(rows().at(-1)).toBe("row 999"));
    scroller().dispatchEvent(new KeyboardEvent("keydown", { key: "Home", bubbles: true }));
    await vi.waitFor(() => expect(document.activeElement?.textContent).toBe("row 0"));
    document.activeElement?.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown", bubbles: true }));
    await vi.waitFor(() => expect(document.activeElement?.textContent).toBe("row 1"));
    root.remove();
  });
});
