import { CURSOR_MARKER, Editor, type EditorTheme, type TUI, visibleWidth } from "@earendil-works/pi-tui";
import type { Frame } from "../../../screen/inline-screen.ts";
import type { Paint } from "../../../terminal/colours.ts";

/** Where a line is between its text and what is below. */
const top = "\u0001";
const bottom = "\u0002";
/** What the library draws as a cursor: the terminal's own stands there. */
const drawnCursor = /\u001b_pi:\/?fc\u0007/g;

/** The field in which a person writes: as many lines as they like, with completion below it. */
export class PromptEditor extends Editor {
  readonly #paint: Paint;

  /** @param requestRender called when something changes by itself, e.g. when completions have come */
  constructor(size: { readonly rows: number }, requestRender: () => void, paint: Paint) {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- It uses nothing else of the library's screen.
    super({ terminal: size, requestRender } as unknown as TUI, themeOf(paint), { autocompleteMaxVisible: 8 });
    this.focused = true;
    this.#paint = paint;
  }

  /** @param mark before its first line */
  frame(width: number, mark: string): Frame {
    const rows = this.render(Math.max(8, width - 2));
    const end = rows.findIndex((line) => line.startsWith(bottom));
    const field = rows.slice(1, end);
    const above = countIn(rows[0]);
    const below = countIn(rows[end]);
    const more = (arrow: string, count: number) =>
      count === 0 ? [] : [this.#paint("dim", `  ${arrow} ${count} more`)];
    const head = more("↑", above);
    let cursor = { row: head.length, column: 2 };
    const lines = field.map((line, index) => {
      const [before = "", after] = line.split(CURSOR_MARKER);
      if (after !== undefined)
        cursor = { row: head.length + index, column: 2 + visibleWidth(before.replace(drawnCursor, "")) };
      const text = `${before}${after ?? ""}`.replace(drawnCursor, "").trimEnd();
      return index === 0 && above === 0 ? `${this.#paint("cyan", mark)} ${text}` : `  ${text}`;
    });
    const menu = rows.slice(end + 1).map((line) => line.replace(drawnCursor, "").trimEnd());
    return { lines: [...head, ...lines, ...more("↓", below), ...menu.map((line) => `  ${line}`)], cursor };
  }

  protected override renderTopBorder(_width: number, hidden: number): string {
    return `${top}${hidden}`;
  }

  protected override renderBottomBorder(_width: number, hidden: number): string {
    return `${bottom}${hidden}`;
  }
}

function countIn(border = ""): number {
  return Number(border.slice(1)) || 0;
}

function themeOf(paint: Paint): EditorTheme {
  return { borderColor: (text) => text, selectList: listTheme(paint) };
}

/** Colours of lists to choose from. */
export function listTheme(paint: Paint): EditorTheme["selectList"] {
  return {
    selectedPrefix: (text) => paint("cyan", text),
    selectedText: (text) => paint("cyan", text),
    description: (text) => paint("dim", text),
    scrollInfo: (text) => paint("dim", text),
    noMatch: (text) => paint("dim", text),
  };
}
