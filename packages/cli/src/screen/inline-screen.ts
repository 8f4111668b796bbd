import { truncateToWidth, visibleWidth } from "@earendil-works/pi-tui";
import { changedLine, onlyStyles } from "./terminal-line.ts";

/** What is drawn below what is finished. */
export interface Frame {
  /** Lines that are finished since the last frame, as for `print`. */
  readonly finished?: readonly string[];
  /** Without line ends; styles are closed in each line. */
  readonly lines: readonly string[];
  /** Where the terminal's cursor stands, from 0. */
  readonly cursor: { readonly row: number; readonly column: number };
}

/** Gives what is to be drawn in a terminal of this size; called for each frame. */
export type DrawFrame = (size: { readonly columns: number; readonly rows: number }) => Frame;

/** A terminal, as far as the screen needs it. */
export interface ScreenTerminal {
  readonly columns: number;
  readonly rows: number;
  write(text: string): void;
}

/** Milliseconds between two frames. */
const frameMs = 33;

/**
 * The terminal's main screen. What is finished is written once and belongs to the terminal from then on, with its search and its
 * copying. Only the lines below it are drawn again, those that differ, so that nothing that was there before is ever erased.
 *
 * No drawn line is as wide as the terminal, since it would leave remains when the width changes; wrapping is off while it draws,
 * since terminals disagree about the width of some characters. Of escapes, nothing but styles passes, wherever a text comes from.
 */
export class InlineScreen {
  readonly #terminal: ScreenTerminal;
  readonly #frame: DrawFrame;
  #finished: string[] = [];
  #drawn: readonly string[] = [];
  #cursor: Frame["cursor"] = { row: 0, column: 0 };
  #columns = 0;
  #timer: NodeJS.Timeout | undefined;
  #drawnAt = 0;
  /** How many hold it back; each ends by itself. */
  #paused = 0;

  constructor(terminal: ScreenTerminal, frame: DrawFrame) {
    this.#terminal = terminal;
    this.#frame = frame;
  }

  /** Writes lines that never change again, each at most as wide as the terminal. */
  print(lines: readonly string[]): void {
    this.#finished.push(...lines.map(onlyStyles));
    this.refresh();
  }

  /** Draws soon. */
  refresh(): void {
    if (this.#paused > 0 || this.#timer !== undefined) return;
    const wait = Math.max(0, this.#drawnAt + frameMs - Date.now());
    this.#timer = setTimeout(() => this.#draw(), wait);
  }

  /** Takes the drawn lines away and leaves the terminal to others until disposed. */
  pause(): Disposable {
    if (this.#paused === 0) this.clear();
    this.#paused++;
    return {
      [Symbol.dispose]: () => {
        this.#paused--;
        this.refresh();
      },
    };
  }

  /** Writes what is finished, and takes the drawn lines away. */
  clear(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#write(this.#toTop() + this.#takeFinished());
    this.#drawn = [];
    this.#cursor = { row: 0, column: 0 };
  }

  #draw(): void {
    this.#timer = undefined;
    this.#drawnAt = Date.now();
    const { columns, rows } = this.#terminal;
    const frame = this.#frame({ columns, rows });
    this.#finished.push(...(frame.finished ?? []).map(onlyStyles));
    const cut = Math.max(0, frame.lines.length - Math.max(1, rows - 1));
    const lines = frame.lines
      .slice(cut)
      .map((line) => truncateToWidth(onlyStyles(line), Math.max(1, columns - 1), "…"));
    const isWhole = this.#finished.length > 0 || columns !== this.#columns || this.#drawn.length === 0;
    this.#columns = columns;
    let row: number;
    let out: string;
    if (isWhole) {
      out = this.#toTop() + this.#takeFinished() + lines.join("\r\n");
      row = Math.max(0, lines.length - 1);
    } else ({ out, row } = this.#differences(lines));
    const cursor = {
      row: Math.min(Math.max(0, frame.cursor.row - cut), Math.max(0, lines.length - 1)),
      column: Math.min(frame.cursor.column, Math.max(0, columns - 2)),
    };
    const isMoved = out !== "" || cursor.row !== this.#cursor.row || cursor.column !== this.#cursor.column;
    this.#drawn = lines;
    this.#cursor = cursor;
    if (isMoved) this.#write(`${out}${move(cursor.row - row)}\u001b[${cursor.column + 1}G`);
  }

  #differences(lines: readonly string[]): { readonly out: string; readonly row: number } {
    let { row } = this.#cursor;
    let out = "";
    lines.forEach((line, index) => {
      const before = this.#drawn[index];
      if (before === line) return;
      if (before === undefined) {
        out += `${move(index - 1 - row)}\r\n${line}`;
      } else out += move(index - row) + changedLine(before, line);
      row = index;
    });
    if (lines.length < this.#drawn.length) {
      out += `${move(lines.length - row)}\r\u001b[J`;
      row = lines.length;
    }
    return { out, row };
  }

  /** From the cursor to where the drawn lines begin, which then are gone. */
  #toTop(): string {
    if (this.#drawn.length === 0) return "";
    const { columns } = this.#terminal;
    // A terminal that became narrower has broken the lines that were drawn for its width before.
    const rowsOf = (width: number): number => Math.max(1, Math.ceil(width / columns));
    const above = this.#drawn.slice(0, this.#cursor.row).reduce((sum, line) => sum + rowsOf(visibleWidth(line)), 0);
    return `${move(-above - Math.floor(this.#cursor.column / columns))}\r\u001b[J`;
  }

  #takeFinished(): string {
    const text = this.#finished.map((line) => `${line}\r\n`).join("");
    this.#finished = [];
    return text;
  }

  #write(text: string): void {
    if (text !== "") this.#terminal.write(`\u001b[?2026h\u001b[?7l${text}\u001b[?7h\u001b[?2026l`);
  }
}

function move(rows: number): string {
  if (rows === 0) return "";
  return rows > 0 ? `\u001b[${rows}B` : `\u001b[${-rows}A`;
}
