import { FullScreen, type FullView } from "./full-screen.ts";
import type { InlineScreen } from "./inline-screen.ts";
import type { OwnTerminal } from "./own-terminal.ts";

/** A conversation's terminal while something else has it: a view on the whole of it, another program, the shell. */
export class LentTerminal {
  readonly #terminal: OwnTerminal;
  readonly #screen: InlineScreen;
  #full: FullScreen | undefined;

  constructor(terminal: OwnTerminal, screen: InlineScreen) {
    this.#terminal = terminal;
    this.#screen = screen;
  }

  /** What has the whole terminal now. */
  get view(): FullView | undefined {
    return this.#full?.view;
  }

  /** Draws what has the whole terminal. @param isWhole true when the size has changed */
  draw({ isWhole = false } = {}): void {
    this.#full?.draw({ isWhole });
  }

  /** Shows a view on the whole terminal until it is done. */
  async onWhole<Result>(view: (done: (result: Result) => void) => FullView): Promise<Result> {
    const { promise, resolve } = Promise.withResolvers<Result>();
    const made = view(resolve);
    const back = this.#screen.pause();
    this.#full = new FullScreen(this.#terminal, made);
    try {
      return await promise;
    } finally {
      this.#full[Symbol.dispose]();
      this.#full = undefined;
      back[Symbol.dispose]();
    }
  }

  /** Leaves the terminal to another program until disposed. */
  suspend(): Disposable {
    const paused = this.#screen.pause();
    const full = this.#full;
    full?.leave();
    this.#terminal.stop();
    return {
      [Symbol.dispose]: () => {
        this.#terminal.start();
        full?.enter();
        paused[Symbol.dispose]();
      },
    };
  }

  /** Ctrl-Z: the shell has the terminal until it wakes this program. */
  sleep(): void {
    const suspended = this.suspend();
    process.once("SIGCONT", () => suspended[Symbol.dispose]());
    process.kill(process.pid, "SIGTSTP");
  }
}
