import { truncateToWidth } from "@earendil-works/pi-tui";
import type { ScreenTerminal } from "./inline-screen.ts";
import { onlyStyles } from "./terminal-line.ts";

/** What has the whole terminal for a while. */
export interface FullView {
  /** Rows from the top; what does not fit is left out. */
  rows(size: { readonly columns: number; readonly rows: number }): readonly string[];
  handle(data: string): void;
}

/** The terminal's other screen, from `enter` on: what was on it is whole again afterwards. */
export class FullScreen implements Disposable {
  readonly #terminal: ScreenTerminal;
  readonly view: FullView;
  #drawn: readonly string[] = [];

  constructor(terminal: ScreenTerminal, view: FullView) {
    this.#terminal = terminal;
    this.view = view;
  }

  /** Takes the screen, also after another program had it. */
  enter(): void {
    this.#terminal.write("\u001b[?1049h\u001b[?25l");
    this.#drawn = [];
    this.draw();
  }

  leave(): void {
    this.#terminal.write("\u001b[?25h\u001b[?1049l");
  }

  /** @param isWhole true when the size has changed */
  draw({ isWhole = false } = {}): void {
    const { columns, rows } = this.#terminal;
    const wanted = this.view.rows({ columns, rows }).slice(0, rows);
    const lines = wanted.map((line) => truncateToWidth(onlyStyles(line), columns - 1, "…"));
    const before = isWhole ? [] : this.#drawn;
    const changed = Array.from({ length: rows }, (_, row) => {
      const line = lines[row] ?? "";
      return line === (before[row] ?? (isWhole || before.length === 0 ? undefined : ""))
        ? ""
        : `\u001b[${row + 1};1H${line}\u001b[K`;
    });
    this.#drawn = lines;
    this.#terminal.write(`\u001b[?2026h\u001b[?7l${changed.join("")}\u001b[?7h\u001b[?2026l`);
  }

  [Symbol.dispose](): void {
    this.leave();
  }
}
