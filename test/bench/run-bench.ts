// `npm run bench [-- [FILTER] [--full] [--record] [--profile DIRECTORY]]`: measures, and prints floor, figure, ratio and target.
// `npm run bench -- short`: less than a minute, and names what takes more processor time than was recorded of it; with
// `--record`, records it.
//
// Every floor is measured in the same run, by turns with its figure: only their ratio says something about Gennai rather
// than about the machine. A target that is not met fails nothing.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { BenchWorld } from "./bench-world.ts";
import { gennaiProgram } from "./gennai-server.ts";
import { measureBridge } from "./measures/bridge.ts";
import { measureCheckpoints } from "./measures/checkpoints.ts";
import { measureDifference } from "./measures/difference.ts";
import { measureGate } from "./measures/gate.ts";
import { measureGuarded } from "./measures/guarded.ts";
import { measureLoad } from "./measures/load.ts";
import { measureShort } from "./measures/short.ts";
import { measureStaged } from "./measures/staged.ts";
import { measureStarting } from "./measures/starting.ts";
import { measureStreaming } from "./measures/streaming.ts";
import { measureTurns } from "./measures/turns.ts";
import { measureVsCode } from "./measures/vscode.ts";
import { table } from "./print-table.ts";
import type { Reading } from "./reading.ts";
import { recordTable } from "./record-table.ts";
import { compareWithRecorded } from "./recorded-ratios.ts";

const measures: Readonly<Record<string, (world: BenchWorld) => Promise<readonly Reading[]>>> = {
  turns: measureTurns,
  streaming: measureStreaming,
  starting: measureStarting,
  load: measureLoad,
  gate: measureGate,
  guarded: measureGuarded,
  difference: measureDifference,
  bridge: measureBridge,
  checkpoints: measureCheckpoints,
  staged: measureStaged,
  vscode: measureVsCode,
};

/** Left to be asked for by name: what it measures, the others do at length. */
const short = "short";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    full: { type: "boolean", default: false },
    /** Where CPU profiles of the servers go. */
    profile: { type: "string" },
    /** Writes the table into `docs/performance.md`, too. */
    record: { type: "boolean", default: false },
    /** Measures the build that is there. */
    "no-build": { type: "boolean", default: false },
  },
});
const isShort = positionals.length === 1 && positionals[0] === short;
const chosen = isShort
  ? [[short, measureShort] as const]
  : Object.entries(measures).filter(
      ([name]) => positionals.length === 0 || positionals.some((part) => name.includes(part)),
    );
if (chosen.length === 0) {
  process.stderr.write(`Measures: ${[short, ...Object.keys(measures)].join(", ")}\n`);
  process.exit(2);
}
if (!values["no-build"] || !existsSync(gennaiProgram)) {
  execFileSync(process.execPath, [fileURLToPath(new URL("../../scripts/build.mjs", import.meta.url))], {
    stdio: "inherit",
  });
}

const readings: Reading[] = [];
await using world = await BenchWorld.open({ full: values.full, profileDirectory: values.profile });
for (const [name, measure] of chosen) {
  process.stderr.write(`${name} …\n`);
  try {
    readings.push(...(await measure(world)));
  } catch (error) {
    process.stderr.write(`${name} could not be measured: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}
process.stdout.write(table(readings));
if (isShort) compareWithRecorded(readings, { record: values.record });
else if (values.record) recordTable(readings, { full: values.full });
