import { spawn } from "@lydell/node-pty";
import xterm from "@xterm/headless";
import { expect } from "vitest";

/** A program in a pseudo terminal, and the screen of the terminal that shows it. */
export interface DrawnTerminal extends AsyncDisposable {
  /** The rows that are seen, without the spaces at their ends. */
  screen(): string;
  /** All rows, also those that have scrolled away. */
  all(): string;
  /** What the program wrote so far. */
  written(): string;
  type(keys: string): void;
  /** As a terminal that marks pastes. */
  paste(text: string): void;
  resize(columns: number, rows: number): void;
  /** Waits until the screen has it. */
  see(text: string | RegExp): Promise<void>;
  kill(signal: string): void;
  readonly ended: Promise<number>;
  /** What the emulator holds, with colours. */
  readonly emulator: xterm.Terminal;
}

export interface TerminalOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  readonly columns?: number;
  readonly rows?: number;
}

export const keys = {
  enter: "\r",
  escape: "\u001b",
  up: "\u001b[A",
  down: "\u001b[B",
  backspace: "\u007f",
  shiftTab: "\u001b[Z",
  control: (letter: string) => String.fromCharCode(letter.charCodeAt(0) - 96),
} as const;

export function openTerminal(file: string, args: readonly string[], options: TerminalOptions): DrawnTerminal {
  const { cwd, env, columns: cols = 100, rows = 30 } = options;
  const terminal = new xterm.Terminal({ cols, rows, scrollback: 100_000, allowProposedApi: true });
  const child = spawn(file, [...args], { cwd, env: { ...env }, cols, rows });
  let written = "";
  child.onData((text) => {
    written += text;
    terminal.write(text);
  });
  terminal.onData((answer) => child.write(answer));
  const ended = new Promise<number>((resolve) => child.onExit(({ exitCode }) => resolve(exitCode)));
  let isOver = false;
  void ended.then(() => (isOver = true));
  const lines = (from: number): string => {
    const { active } = terminal.buffer;
    const found: string[] = [];
    for (let row = from; row < active.length; row++) {
      const line = active.getLine(row);
      const text = line?.translateToString(true) ?? "";
      if (line?.isWrapped === true && found.length > 0) found.push(`${found.pop() ?? ""}${text}`);
      else found.push(text);
    }
    return found.join("\n").trimEnd();
  };
  const screen = () => lines(terminal.buffer.active.baseY);
  return {
    screen,
    all: () => lines(0),
    written: () => written,
    type: (text) => child.write(text),
    paste: (text) => child.write(`\u001b[200~${text}\u001b[201~`),
    resize: (columns, height) => {
      terminal.resize(columns, height);
      child.resize(columns, height);
    },
    see: async (text) => {
      await expect.poll(screen, { timeout: 60_000 }).toMatch(typeof text === "string" ? literal(text) : text);
    },
    kill: (signal) => child.kill(signal),
    ended,
    emulator: terminal,
    [Symbol.asyncDispose]: async () => {
      if (!isOver) child.kill("SIGKILL");
      await ended;
      terminal.dispose();
    },
  };
}

function literal(text: string): RegExp {
  return new RegExp(text.replaceAll(/[$()*+.?[\\\]^{|}]/g, "\\$&"));
}
