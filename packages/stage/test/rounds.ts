/**
 * How many rounds a scenario takes in its own process: `few`, or `many` in the long tests. `GENNAI_ROUNDS` says another number.
 */
export function roundsOf({ few, many }: { readonly few: number; readonly many: number }): number {
  return Number(process.env["GENNAI_ROUNDS"] || (process.env["GENNAI_LONG"] === "1" ? many : few));
}
