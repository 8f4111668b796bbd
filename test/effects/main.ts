import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { harmOf } from "./harm.ts";
import { askedOf } from "./quiet.ts";
import { loadCommands, sampleOf } from "./run-commands.ts";

/** `npm run effects -- harm|quiet [COUNT]`: runs all commands of a corpus, or so many of them, and prints what came of it. */
const [what = "harm", count] = process.argv.slice(2);
const home = mkdtempSync(join(tmpdir(), "gennai-home-"));
process.env["HOME"] = home;
const outcomes = new Map<string, number>();
const onResult = ({ outcome }: { readonly outcome: string }): void => {
  outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
};
const all = loadCommands(what === "quiet" ? "everyday" : "hostile");
const commands = count === undefined ? all : sampleOf(all, Number(count), Date.now());
try {
  if (what === "quiet") {
    for (const { id, command, outcome, rules } of await askedOf(commands, onResult)) {
      process.stdout.write(`${id} ${outcome} ${rules.join(", ")}: ${command}\n`);
    }
  } else {
    const harm = await harmOf(commands, onResult);
    for (const { id, command, what: done } of harm) process.stdout.write(`${id} ${done}: ${command}\n`);
    process.exitCode = harm.length === 0 ? 0 : 1;
    process.stdout.write(`${harm.length} did harm\n`);
  }
  const table = [...outcomes].map(([outcome, number]) => `${number} ${outcome}`).join(", ");
  process.stdout.write(`${commands.length} commands: ${table}\n`);
} finally {
  rmSync(home, { recursive: true, force: true });
}
