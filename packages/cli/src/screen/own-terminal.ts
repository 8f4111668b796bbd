import { ProcessTerminal } from "@earendil-works/pi-tui";
import { terminalSafe } from "../terminal/terminal-safe.ts";

/** Told while nobody looks: a line, without secrets. */
const notify = {
  osc9: (text: string) => `\u001b]9;${text}\u0007`,
  osc777: (text: string) => `\u001b]777;notify;Gennai;${text}\u0007`,
};

/** The process's own terminal while a conversation has it: keys one by one, whether somebody looks, its title. */
export class OwnTerminal implements Disposable {
  readonly #terminal = new ProcessTerminal();
  readonly #environment: NodeJS.ProcessEnv;
  readonly #onInput: (data: string) => void;
  readonly #onResize: () => void;
  #isLookedAt = true;
  #title = "";
  /** In case the process ends in another way. */
  readonly #onExit = () => this.#terminal.restoreOnExit("\u001b[?1049l", `${leaving}\r\n`);

  constructor(environment: NodeJS.ProcessEnv, onInput: (data: string) => void, onResize: () => void) {
    this.#environment = environment;
    this.#onInput = (data) => {
      if (data === "\u001b[I" || data === "\u001b[O") this.#isLookedAt = data === "\u001b[I";
      else onInput(data);
    };
    this.#onResize = onResize;
  }

  get columns(): number {
    return this.#terminal.columns;
  }

  get rows(): number {
    return this.#terminal.rows;
  }

  write(text: string): void {
    this.#terminal.write(text);
  }

  start(): void {
    this.#terminal.start(this.#onInput, this.#onResize);
    this.write("\u001b[22;0t\u001b[?1004h");
    process.on("exit", this.#onExit);
  }

  /** Leaves the terminal to other programs. */
  stop(): void {
    process.off("exit", this.#onExit);
    this.write(leaving);
    this.#terminal.stop();
    this.#title = "";
  }

  setTitle(title: string): void {
    if (title === this.#title) return;
    this.#title = title;
    this.#terminal.setTitle(terminalSafe(title));
  }

  /** Calls a person who looks elsewhere; says nothing where the terminal does not tell that. @param text one line, without secrets */
  attract(text: string): void {
    if (this.#isLookedAt) return;
    const { TERM: term = "", TERM_PROGRAM: program = "", KITTY_WINDOW_ID: kitty } = this.#environment;
    const words = terminalSafe(text).replaceAll(/[\n;]/g, " ").slice(0, 200);
    if (/^(?:iTerm\.app|WezTerm|ghostty|WarpTerminal)$/.test(program) || kitty !== undefined)
      this.write(notify.osc9(words));
    else if (/^(?:rxvt|foot)/.test(term)) this.write(notify.osc777(words));
    else this.write("\u0007");
  }

  [Symbol.dispose](): void {
    this.stop();
  }
}

/** Ends what `start` began: focus reports, and the title of before. */
const leaving = "\u001b[?1004l\u001b[23;0t";
