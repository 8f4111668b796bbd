import { setTimeout as delay } from "node:timers/promises";
import { errorMessage } from "@gennai/protocol/error-message";
import { readCommandLine, usageError } from "../../scripts/lib/command-line.mjs";
import { type Check, type CorpusCase, loadCases } from "./corpus-case.ts";
import { corpusChecks } from "./corpus-checks.ts";
import { closeSharedFixtures } from "./shared-fixtures.ts";

const usage = `npm run corpus [-- [GROUP|ID …] [-v]]   runs the attack corpus, and prints a line for each group

Options:
  -v       also names the cases that are not applicable
  --help   this text

Ends with 1 when a case comes out wrong.
`;

const { values, positionals: words } = readCommandLine(usage, {
  allowPositionals: true,
  options: { verbose: { type: "boolean", short: "v", default: false } },
});
const { verbose } = values;
const chosen = (each: CorpusCase): boolean =>
  words.length === 0 || words.includes(each.id) || words.includes(each.group);

const timeoutMs = 60_000;
const groups = Map.groupBy(loadCases().filter(chosen), ({ group }) => group);
if (groups.size === 0) usageError(`There is no group or case ${words.join(", ")}.`, usage);
const totals = { right: 0, wrong: 0, notApplicable: 0, held: 0 };
for (const [group, all] of groups) {
  const checks = corpusChecks.get(group) ?? {};
  const cases = all.filter(({ heldBy }) => heldBy === undefined);
  const held = all.length - cases.length;
  totals.held += held;
  const counts = { right: 0, wrong: 0, notApplicable: 0 };
  const details: string[] = [];
  for (const each of cases) {
    const result = await resultOf(each, checks[each.id]);
    counts[result.type] += 1;
    totals[result.type] += 1;
    if (result.type === "wrong" || (verbose && result.type === "notApplicable")) {
      details.push(`  ${each.id} ${each.required}: ${each.input}\n    ${result.type}: ${result.why}`);
    }
  }
  print(group, shown({ ...counts, held }));
  for (const detail of details) process.stdout.write(`${detail}\n`);
}
print("all", shown(totals));
await closeSharedFixtures();
process.exitCode = totals.wrong === 0 ? 0 : 1;

type Result = { readonly type: "right" } | { readonly type: "wrong" | "notApplicable"; readonly why: string };

async function resultOf(each: CorpusCase, check: Check | undefined): Promise<Result> {
  if (check === undefined) return { type: "wrong", why: `${each.id} has no check` };
  if ("notApplicable" in check) return { type: "notApplicable", why: check.notApplicable };
  try {
    await Promise.race([check.run(), late()]);
    return { type: "right" };
  } catch (error) {
    const cause = error instanceof SuppressedError ? error.suppressed : error;
    return { type: "wrong", why: errorMessage(cause).replaceAll("\n", "\n    ") };
  }
}

/** Rejects when a check has taken longer than any should. */
async function late(): Promise<never> {
  await delay(timeoutMs, undefined, { ref: false });
  throw new Error(`it did not end within ${timeoutMs / 1000} s`);
}

function shown(counts: typeof totals): string {
  return `${counts.right} right, ${counts.wrong} wrong, ${counts.notApplicable} not applicable, ${counts.held} held by other tests`;
}

function print(group: string, text: string): void {
  process.stdout.write(`${group.padEnd(18)} ${text}\n`);
}
