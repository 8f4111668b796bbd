import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Reading } from "./reading.ts";
import { type Ratios, slowerLines, slowerRows } from "./slower-rows.ts";

const file = fileURLToPath(new URL("recorded-ratios.json", import.meta.url));

/** Names, on standard output, the rows that got slower since they were recorded; with `record`, records these instead. */
export function compareWithRecorded(readings: readonly Reading[], { record }: { readonly record: boolean }): void {
  const measured: Ratios = Object.fromEntries(
    readings.flatMap(({ name, processor }) =>
      processor === undefined ? [] : [[name, Math.round((processor.figure / processor.floor) * 100) / 100]],
    ),
  );
  if (record) {
    writeFileSync(file, `${JSON.stringify(measured, null, 2)}\n`);
    return;
  }
  const recorded = JSON.parse(readFileSync(file, "utf8")) as Ratios;
  const lines = slowerLines(slowerRows(recorded, measured));
  process.stdout.write(lines.length === 0 ? "No row is slower than recorded.\n" : `${lines.join("\n")}\n`);
}
