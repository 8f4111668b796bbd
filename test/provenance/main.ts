import { existsSync } from "node:fs";
import { join } from "node:path";
import { SeededRandom } from "@gennai/testkit/seeded-random";
import { readCommandLine, usageError } from "../../scripts/lib/command-line.mjs";
import { gitHistory } from "./git-history.ts";
import { type Measured, measure } from "./measure.ts";
import { measuredTable } from "./measured-table.ts";
import { replayHistory } from "./replayed-history.ts";

const help = `npm run provenance -- REPOSITORY… [OPTIONS]    how well lines are recognised, on real histories

Plays the first-parent commits of each git repository; some of them count as recorded writes of an agent, the rest as the work of
people of whom nothing is recorded. Then it changes files of the last commit at random, as people and formatters do, and asks of
each line whose it is. A name is wrong when the line came from another commit, or was written after it.

Options:
  --commits N          the newest commits of each repository (1500)
  --transformations N  how many in all (1000)
  --recorded SHARE     of the commits that are recorded (0.6)
  --seed N             the same numbers, the same result (1)
  --help               this text

Ends with 1 when a name is wrong where the text was only ever brought once, when more than 0.5 % of the others are wrong, or
when fewer than 95 % of the lines that have an origin are named.
`;

const { values, positionals } = readCommandLine(help, {
  allowPositionals: true,
  options: {
    commits: { type: "string", default: "1500" },
    transformations: { type: "string", default: "1000" },
    recorded: { type: "string", default: "0.6" },
    seed: { type: "string", default: "1" },
  },
});
if (positionals.length === 0) usageError("Name a git repository.", help);
const measured: Measured[] = [];
const seed = Number(values.seed);
for (const repository of positionals) {
  const inside = join(repository, ".git");
  const steps = await gitHistory(existsSync(inside) ? inside : repository, Number(values.commits));
  const started = performance.now();
  const history = replayHistory(steps, { recorded: Number(values.recorded), random: new SeededRandom(seed) });
  const replayed = performance.now();
  const count = Math.ceil(Number(values.transformations) / positionals.length);
  measured.push(measure(history, { count, seed }));
  const ms = (from: number, to: number): string => `${((to - from) / 1000).toFixed(1)} s`;
  process.stdout.write(
    `${repository}: ${steps.length} writes of files played in ${ms(started, replayed)}, ${count} transformations in ${ms(replayed, performance.now())}\n`,
  );
}
const { table, holds } = measuredTable(measured);
process.stdout.write(table);
process.exitCode = holds ? 0 : 1;
