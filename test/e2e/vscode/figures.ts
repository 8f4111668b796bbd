import { appendFileSync } from "node:fs";
import { table } from "../../bench/print-table.ts";
import type { Reading } from "../../bench/reading.ts";

/** Tells what was measured, and `npm run bench -- vscode` what it asked for. Asserts nothing: it depends on what else the machine does. */
export function tell(...readings: readonly Reading[]): void {
  process.stdout.write(table(readings));
  const file = process.env["GENNAI_FIGURES"];
  if (file !== undefined) appendFileSync(file, readings.map((reading) => `${JSON.stringify(reading)}\n`).join(""));
}
