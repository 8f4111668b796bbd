// `npm run bench -- --help` says what it takes.
//
// Every floor is measured in the same run, by turns with its figure: only their ratio says something about Gennai rather
// than about the machine. A target that is not met fails nothing.

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { errorMessage } from "@gennai/protocol/error-message";
import { readCommandLine, usageError } from "../../scripts/lib/command-line.mjs";
import { BenchWorld } from "./bench-world.ts";
import { gennaiProgram } from "./gennai-server.ts";
import { measureBridge } from "./measures/bridge.ts";
import { measureCheckpoints } from "./measures/checkpoints.ts";
import { measureDifference } from "./measures/difference.ts";
import { measureGate } from "./measures/gate.ts";
import { measureGrowth } from "./measures/growth.ts";
import { measureGuarded } from "./measures/guarded.ts";
import { measureLoad } from "./measures/load.ts";
import { measureReplicas } from "./measures/replicas.ts";
import { measureShort } from "./measures/short.ts";
import { measureStaged } from "./measures/staged.ts";
import { measureStarting } from "./measures/starting.ts";
import { measureStreaming } from "./measures/streaming.ts";
import { measureTurns } from "./measures/turns.ts";
import { measureVsCode } from "./measures/vscode.ts";
import { table } from "./table/print-table.ts";
import type { Reading } from "./table/reading.ts";
import { recordTable } from "./table/record-table.ts";
import { compareWithRecorded } from "./table/recorded-ratios.ts";

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

/** Take minutes each, and have a table each in `docs/performance.md`: only by name. */
const byName: typeof measures = { replicas: measureReplicas, growth: measureGrowth };

/** Left to be asked for by name: what it measures, the others do at length. */
const short = "short";

const usage = `npm run bench [-- [MEASURE …] [OPTIONS]]   measures Gennai beside a floor of the same run, and prints floor, figure, ratio and target
npm run bench -- replicas, -- growth      minutes each, only by their whole name: 100 sessions at once, also on three servers; what must not grow
npm run bench -- short [--record]         less than a minute: names what takes more processor time than was recorded of it

Measures: ${Object.keys(measures).join(", ")}. A part of a name is enough; without one, all of them.

Options:
  --full               longer measures, with more sessions
  --record             writes the table into docs/performance.md; with short, records the ratios that later runs compare with
  --profile DIRECTORY  writes CPU profiles of the servers there
  --no-build           measures the build that is there
  --help               this text
`;

const { values, positionals } = readCommandLine(usage, {
  allowPositionals: true,
  options: {
    full: { type: "boolean", default: false },
    profile: { type: "string" },
    record: { type: "boolean", default: false },
    "no-build": { type: "boolean", default: false },
  },
});
const isShort = positionals.length === 1 && positionals[0] === short;
const chosen = isShort
  ? [[short, measureShort] as const]
  : [
      ...Object.entries(measures).filter(
        ([name]) => positionals.length === 0 || positionals.some((part) => name.includes(part)),
      ),
      ...Object.entries(byName).filter(([name]) => positionals.includes(name)),
    ];
if (chosen.length === 0) usageError(`There is no measure ${positionals.join(", ")}.`, usage);
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
    process.stderr.write(`${name} could not be measured: ${errorMessage(error)}\n`);
    process.exitCode = 1;
  }
}
process.stdout.write(table(readings));
if (isShort) compareWithRecorded(readings, { record: values.record });
else if (values.record) {
  const [only] = chosen.length === 1 ? chosen : [];
  recordTable(readings, { full: values.full, group: only !== undefined && only[0] in byName ? only[0] : "" });
}
