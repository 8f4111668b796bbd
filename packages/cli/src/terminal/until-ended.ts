import { type Console, isTerminal } from "./console.ts";
import { exitCode } from "./exit-code.ts";
import { Interrupts } from "./interrupts.ts";
import { LineInput } from "./line-input.ts";

/**
 * Does work of which nothing may be left if a signal ends it: the first signal aborts the work and waits until it rejects, the
 * second ends the process at once.
 *
 * @param left message after such an end
 * @returns the work's exit code, or 130 or 143 if it was ended
 */
export async function untilEnded(
  console: Console,
  left: string,
  work: (place: {
    readonly interrupts: Interrupts;
    readonly signal: AbortSignal;
    /** The user's input; opened by the first call. */
    lines(): LineInput;
  }) => Promise<number>,
): Promise<number> {
  const ending = new AbortController();
  let endedBy: NodeJS.Signals | undefined;
  // Under nohup the input is no terminal, and the work goes on without one.
  using interrupts = new Interrupts(undefined, { hangUp: isTerminal(console.input) });
  using _listening = interrupts.listen((signal) => {
    endedBy = signal;
    ending.abort();
  });
  let input: LineInput | undefined;
  const lines = (): LineInput => (input ??= new LineInput(console, () => interrupts.interrupt()));
  try {
    return await work({ interrupts, signal: ending.signal, lines });
  } catch (error) {
    if (endedBy === undefined) throw error;
    console.errors.write(`${left}\n`);
    return endedBy === "SIGTERM" ? exitCode.terminated : exitCode.interrupted;
  } finally {
    input?.[Symbol.dispose]();
  }
}
