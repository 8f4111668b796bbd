import { inspect, parseArgs } from "node:util";
import { applyRounds } from "./apply/apply-rounds.ts";
import { type CrashOptions, positive } from "./crash-options.ts";
import { serverRounds } from "./server/server-rounds.ts";
import { keyRounds, storeRounds } from "./store/store-rounds.ts";

/** Kills by SIGKILL, `--rounds` times for every kind (or only those named), and says how it went. Ends with 1 when a check failed. */
const kinds: Readonly<Record<string, (options: CrashOptions) => Promise<void>>> = {
  store: storeRounds,
  keys: keyRounds,
  apply: applyRounds,
  server: serverRounds,
};

const { values, positionals } = parseArgs({
  options: { rounds: { type: "string", default: "50" }, seed: { type: "string", default: "1" } },
  allowPositionals: true,
});
const rounds = positive(values.rounds) ?? 50;
const seed = positive(values.seed) ?? 1;
for (const name of positionals.length === 0 ? Object.keys(kinds) : positionals) {
  const run = kinds[name];
  if (run === undefined) throw new RangeError(`There is no kind ${name}: choose ${Object.keys(kinds).join(", ")}.`);
  let done = 0;
  const hits = new Map<string, number>();
  const onRound = (_round: number, hit: string): void => {
    done += 1;
    hits.set(hit, (hits.get(hit) ?? 0) + 1);
  };
  const started = performance.now();
  const told = (problem: string): string =>
    `${name.padEnd(8)} ${done} rounds, seed ${seed}, ${Math.round((performance.now() - started) / 1000)} s: ${problem}\n`;
  try {
    await run({ rounds, seed, onRound });
    process.stdout.write(told("nothing lost, nothing doubled, nothing half"));
  } catch (error) {
    process.stdout.write(told(`failed\n${inspect(error)}`));
    process.exitCode = 1;
  }
  for (const [hit, count] of [...hits].sort(([one], [other]) => one.localeCompare(other)))
    process.stdout.write(`${String(count).padStart(8)} ${hit}\n`);
}
