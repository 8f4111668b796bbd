import { FullScreen, type FullView } from "./full-screen.ts";
import type { InlineScreen, ScreenTerminal } from "./inline-screen.ts";
import type { OwnTerminal } from "./own-terminal.ts";

type BorrowedTerminal = ScreenTerminal & Pick<OwnTerminal, "start" | "stop">;

/** A conversation's terminal while something else has it: a view on the whole of it, another program, the shell. */
export class LentTerminal {
  readonly #terminal: BorrowedTerminal;
  readonly #screen: Pick<InlineScreen, "pause">;
  #full: FullScreen | undefined;
  /** Ends what has the whole terminal when it cannot be drawn. */
  #fail: (error: unknown) => void = () => undefined;

  constructor(terminal: BorrowedTerminal, screen: Pick<InlineScreen, "pause">) {
    this.#terminal = terminal;
    this.#screen = screen;
  }

  /** What has the whole terminal now. */
  get view(): FullView | undefined {
    return this.#full?.view;
  }

  /** Draws what has the whole terminal. @param isWhole true when the size has changed */
  draw({ isWhole = false } = {}): void {
    try {
      this.#full?.draw({ isWhole });
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Shows a view on the whole terminal until it is done. Rejects as the view does when it cannot be drawn. */
  async onWhole<Result>(view: (done: (result: Result) => void) => FullView): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const made = view(resolve);
    const back = this.#screen.pause();
    const full = new FullScreen(this.#terminal, made);
    this.#full = full;
    this.#fail = reject;
    try {
      full.enter();
      return await promise;
    } finally {
      full[Symbol.dispose]();
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
