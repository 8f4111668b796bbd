import { setFlagsFromString } from "node:v8";

/**
 * For a process in which a server runs. What a program cannot say of itself once it runs is how large V8's heap may get; but by how
 * much its parts grow, V8 looks up each time:
 *
 * - the young part, which V8 has three times over, no further than it did for loading: at 50 sessions a third of the memory, for 3 to
 *   7 % more processor time;
 * - the old part by half of what is in use before it is cleaned again, where V8 lets it grow fourfold: at 50 sessions 245 MiB in place
 *   of 300 to 325, for another 5 to 8 %; with one session neither shows.
 */
export function keepHeapSmall(): void {
  setFlagsFromString("--semi-space-growth-factor=1");
  setFlagsFromString("--heap-growing-percent=50");
}
