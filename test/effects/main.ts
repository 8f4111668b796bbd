import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { inspect } from "node:util";
import { readCommandLine, usageError } from "../../scripts/lib/command-line.mjs";
import { sampleOf } from "../../scripts/lib/tests/sample.mjs";
import type { CrashOptions } from "../crash/crash-options.ts";
import { askedIn01, loudUnstaged } from "./asked-unstaged.ts";
import { harmOf } from "./look/harm.ts";
import { quietTable } from "./look/quiet-table.ts";
import { Progress } from "./progress.ts";
import type { QuietRun } from "./runs/compared-runs.ts";
import { fromNothing } from "./runs/from-nothing.ts";
import { grammarRuns } from "./runs/grammar-runs.ts";
import { kills } from "./runs/kills.ts";
import { meanwhile } from "./runs/meanwhile.ts";
import { projectRuns } from "./runs/project-runs.ts";
import { quietRuns } from "./runs/quiet-runs.ts";
import { type CorpusCommand, loadCommands } from "./runs/run-commands.ts";
import { withoutOverlays } from "./without-overlays.ts";

const usage = `npm run effects -- [WHAT] [OPTIONS]   runs shell commands in the sandbox, and compares what they did with what they may do

What:
  harm [COMMANDS]               hostile commands: none may change anything outside their copy (the default)
  quiet [COMMANDS]              everyday commands: how many run without a question, and end as they do without Gennai
  unstaged                      how many everyday commands are asked about where commands cannot be staged
  grammar [ROUNDS]              generated commands that run without a question where commands cannot be staged (10000)
  kills [ROUNDS]                kills the server while commands run (500)
  meanwhile [ROUNDS]            a user changes files while commands run (200)
  project FOLDER COMMAND…       runs these commands in a copy of a project
  nothing REPOSITORY COMMAND…   runs them in fresh clones, in both modes, with a yes to each question

COMMANDS is a number (so many, at random), FIRST-LAST (rows of the corpus) or a JSON file; without it, the whole corpus.

Options:
  --intent             quiet: with an intent in force, whose scope is src/**
  --install            quiet: fetches the packages of the small project that the commands run in
  --seed N             kills, meanwhile, grammar: the same number gives the same run
  --without-overlays   works where no overlay can be mounted, so that commands run on copies; needs root
  --help               this text
`;

const { values, positionals } = readCommandLine(usage, {
  allowPositionals: true,
  options: {
    intent: { type: "boolean", default: false },
    install: { type: "boolean", default: false },
    "without-overlays": { type: "boolean", default: false },
    seed: { type: "string" },
  },
});
const [what = "harm", which, ...more] = positionals;
const programs: Readonly<Record<string, () => Promise<boolean>>> = {
  harm,
  quiet,
  kills: () => rounds(kills, 500),
  meanwhile: () => rounds(meanwhile, 200),
  project,
  nothing,
  unstaged: askedUnstaged,
  grammar,
};
const program = Object.hasOwn(programs, what) ? programs[what] : undefined;
if (program === undefined) usageError(`There is no ${what}: choose ${Object.keys(programs).join(", ")}.`, usage);
if (values["without-overlays"]) process.exit(withoutOverlays(process.argv.slice(2)));
const home = mkdtempSync(join(tmpdir(), "gennai-home-"));
process.env["HOME"] = home;
try {
  process.exitCode = (await program()) ? 0 : 1;
} finally {
  rmSync(home, { recursive: true, force: true });
}

async function harm(): Promise<boolean> {
  const outcomes = new Map<string, number>();
  const commands = chosen("hostile");
  const progress = new Progress(commands.length);
  const found = await harmOf(commands, ({ outcome }) => {
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    progress.next();
  });
  for (const { id, command, what: done } of found) process.stdout.write(`${id} ${done}: ${command}\n`);
  const table = [...outcomes].map(([outcome, number]) => `${number} ${outcome}`).join(", ");
  process.stdout.write(`${found.length} did harm\n${commands.length} commands: ${table}\n`);
  return found.length === 0;
}

async function quiet(): Promise<boolean> {
  const commands = chosen("everyday");
  const progress = new Progress(commands.length);
  const runs: QuietRun[] = [];
  // Who ends it before it is done is told about the rows up to there.
  process.once("SIGTERM", () => {
    process.stdout.write(`The first ${runs.length} of ${commands.length}:\n${quietTable(runs).text}`);
    process.exit(1);
  });
  const onResult = (run: QuietRun): void => {
    const { id, outcome, why, command } = run;
    runs.push(run);
    progress.next();
    if (outcome === "quiet" || outcome === "not installed") return;
    process.stdout.write(`${id} ${outcome} (${why.join("; ")}): ${command}\n`);
  };
  await quietRuns(commands, { intent: values.intent, install: values.install, onResult });
  const { text, isMet } = quietTable(runs);
  process.stdout.write(text);
  return isMet;
}

async function project(): Promise<boolean> {
  if (which === undefined || more.length === 0)
    return usageError("Name a folder, and commands to run in a copy of it.", usage);
  const runs = await projectRuns(which, more, ({ outcome, why, exitCode, command }) => {
    const ended = outcome === "quiet" ? `as bare, exit code ${exitCode}` : `${outcome} (${why.join("; ")})`;
    process.stdout.write(`${ended}: ${command}\n`);
  });
  return runs.every(({ outcome }) => outcome === "quiet");
}

async function nothing(): Promise<boolean> {
  if (which === undefined || more.length === 0)
    return usageError("Name a repository, and commands to run in clones of it.", usage);
  // A project is for the Node that its user has, not for this repository's, which npm puts before it.
  const paths = (process.env["PATH"] ?? "").split(delimiter);
  process.env["PATH"] = paths.filter((path) => !path.startsWith(resolve(import.meta.dirname, "../.."))).join(delimiter);
  const runs = await fromNothing(resolve(which), more);
  for (const { mode, questions, commands, added, proposed } of runs) {
    process.stdout.write(`${mode} mode, ${questions.length} asked\n`);
    for (const title of questions) process.stdout.write(`  asked: ${title}\n`);
    for (const { command, exitCode, output } of commands) {
      process.stdout.write(`  exit code ${exitCode ?? "none"}: ${command}\n`);
      if (exitCode !== 0) process.stdout.write(`${output}\n`);
    }
    process.stdout.write(`  in the workspace: ${added.join(", ")}\n  proposed: ${proposed.join(", ")}\n`);
  }
  return runs.every(({ commands }) => commands.every(({ exitCode }) => exitCode === 0));
}

/** How many of the everyday commands ask or are refused where they cannot be staged: the share that 0.1 asked about is beside it. */
async function askedUnstaged(): Promise<boolean> {
  const commands = chosen("everyday");
  const { asked, loud } = await loudUnstaged(commands);
  for (const { id, command, outcome } of loud) process.stdout.write(`${id} ${outcome}: ${command}\n`);
  const share = (100 * asked) / commands.length;
  process.stdout.write(`${asked} of ${commands.length}, ${share.toFixed(1)} %; 0.1 asked about ${askedIn01} %\n`);
  return share <= askedIn01;
}

async function grammar(): Promise<boolean> {
  let ran = 0;
  const seed = Number(values.seed ?? Date.now() % 1_000_000);
  const onRound = (_command: string, runs: boolean): void => void (ran += Number(runs));
  const harms = await grammarRuns({ rounds: Number(which ?? 10_000), seed, onRound });
  for (const { command, what: done } of harms) process.stdout.write(`${done}: ${command}\n`);
  process.stdout.write(`${harms.length} did harm of ${ran} that ran unasked, seed ${seed}\n`);
  return harms.length === 0;
}

async function rounds(run: (options: CrashOptions) => Promise<void>, usual: number): Promise<boolean> {
  const hits = new Map<string, number>();
  const seed = Number(values.seed ?? Date.now() % 1_000_000);
  const count = Number(which ?? usual);
  const progress = new Progress(count);
  const onRound = (_round: number, hit: string): void => {
    hits.set(hit, (hits.get(hit) ?? 0) + 1);
    progress.next();
  };
  const report = (): void => {
    for (const [hit, times] of [...hits].toSorted(([one], [other]) => one.localeCompare(other)))
      process.stdout.write(`${String(times).padStart(8)} ${hit}\n`);
    process.stdout.write(`${[...hits.values()].reduce((sum, times) => sum + times, 0)} rounds held, seed ${seed}\n`);
  };
  process.once("SIGTERM", () => {
    report();
    process.exit(1);
  });
  try {
    await run({ rounds: count, seed, onRound });
    return true;
  } catch (error) {
    process.stdout.write(`${inspect(error)}\n`);
    return false;
  } finally {
    report();
  }
}

function chosen(corpus: "hostile" | "everyday"): readonly CorpusCommand[] {
  const all = loadCommands(corpus);
  if (which === undefined) return all;
  if (/^\d+$/.test(which)) return sampleOf(all, Number(which));
  const rows = /^(\d+)-(\d+)$/.exec(which);
  if (rows !== null) return all.slice(Number(rows[1]) - 1, Number(rows[2]));
  return JSON.parse(readFileSync(which, "utf8")) as CorpusCommand[];
}
