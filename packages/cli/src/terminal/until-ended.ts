import { exitCode } from "../errors/exit-code.ts";
import { type Console, isTerminal } from "./console.ts";
import { Interrupts } from "./interrupts.ts";
import { LineInput } from "./line-input.ts";

/**
 * Does work of which nothing may be left when it is ended by a signal: the first of them aborts the signal and waits for
 * the work to reject, the second ends the process at once.
 *
 * @param left what is said then
 * @returns the work's exit code, or 130 and 143 where it was ended
 */
export async function untilEnded(
  console: Console,
  left: string,
  work: (place: {
    readonly interrupts: Interrupts;
    readonly signal: AbortSignal;
    /** What the user types, from the first call on. */
    lines(): LineInput;
  }) => Promise<number>,
): Promise<number> {
  const ending = new AbortController();
  let endedBy: NodeJS.Signals | undefined;
  // Under nohup no terminal is the input, and the work outlives it.
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
