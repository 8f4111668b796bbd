import { type Console, isTerminal } from "./console.ts";
import { Interrupts } from "./interrupts.ts";
import { LineInput } from "./line-input.ts";

/** Asks a person once. False without a terminal, which it reports. @param what e.g. `Purging is for good` */
export async function agreed(question: string, what: string, console: Console): Promise<boolean> {
  if (!isTerminal(console.input) || !isTerminal(console.errors)) {
    console.errors.write(`${what}: say --yes, or run it in a terminal.\n`);
    return false;
  }
  using interrupts = new Interrupts();
  using input = new LineInput(console, () => interrupts.interrupt());
  const { signal } = new AbortController();
  return /^\s*(?:y|yes)\s*$/i.test((await input.question(question, { signal })) ?? "");
}
