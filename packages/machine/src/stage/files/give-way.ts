import { setImmediate as nextTurn } from "node:timers/promises";

/** Milliseconds that such work may take without a pause. */
const longest = 10;

let since = 0;

/** Awaited between the small steps of long work: the other work of this process has its turn when that is due. */
export async function giveWay(): Promise<void> {
  if (performance.now() - since < longest) return;
  await nextTurn();
  since = performance.now();
}
