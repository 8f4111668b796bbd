import { setImmediate as nextTurn } from "node:timers/promises";

/** Milliseconds that work in small steps may take without a pause. */
const longest = 10;

let since = 0;

/** Await it between small steps of long work: it pauses, when due, so that other work of this process has its turn. */
export async function giveWay(): Promise<void> {
  if (performance.now() - since < longest) return;
  await nextTurn();
  since = performance.now();
}
