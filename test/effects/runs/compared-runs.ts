import { normalisedOutput } from "../look/normalised-output.ts";
import { differences, type TreeState } from "../look/tree-state.ts";
import type { BareRun } from "./bare-run.ts";
import type { CorpusCommand } from "./run-commands.ts";
import type { StagedTurn } from "./staged-turn.ts";

/** What a command was to the person who waits for it. */
export interface QuietRun extends CorpusCommand {
  /** `quiet`: no question, and exit code, output and effects of a bare run. */
  readonly outcome: "quiet" | "different" | "asked" | "refused" | "not installed";
  /** Rules that asked or refused, or what differs from a bare run. */
  readonly why: readonly string[];
  /** Of the bare run; undefined when it did not end in time. */
  readonly exitCode: number | undefined;
  /** What it prints differs from one bare run to the next, or reports the sandbox, and was not compared. */
  readonly outputVaries: boolean;
}

/** A run, and what there is afterwards. */
export interface Ran extends BareRun {
  readonly state: TreeState;
}

/** Whether a staged run can be distinguished from a bare one. Differences that also occur between two bare runs do not count. */
export function comparedRuns(
  command: CorpusCommand,
  staged: StagedTurn & Ran,
  [bare, again]: readonly [Ran, Ran],
): QuietRun {
  const run = { ...command, exitCode: bare.exitCode, outputVaries: false };
  if (isMissing(bare)) return { ...run, outcome: "not installed", why: [] };
  if (staged.fired.length > 0) {
    const isRefused = staged.fired.some(({ refused }) => refused);
    return { ...run, outcome: isRefused ? "refused" : "asked", why: staged.fired.map(({ rule }) => rule) };
  }
  // Of what did not end by itself nothing is kept.
  if (bare.exitCode === undefined && staged.exitCode === undefined) return { ...run, outcome: "quiet", why: [] };
  const why: string[] = [];
  if (staged.exitCode !== bare.exitCode) why.push(`exit code ${staged.exitCode} and not ${bare.exitCode}`);
  const outputs = [staged, bare, again].map(({ output }) => shown(output));
  const outputVaries = command.tells === "sandbox" || outputs[1] !== outputs[2];
  if (!outputVaries && !isSameAsFarAsShown(outputs[0] ?? "", outputs[1] ?? ""))
    why.push(`output ${firstDifference(outputs[0], outputs[1])}`);
  const varying = new Set(differences(bare.state, again.state));
  for (const name of differences(staged.state, bare.state)) {
    const isThere = [staged, bare].map(({ state }) => state.has(name));
    if (!varying.has(name) || isThere[0] !== isThere[1]) why.push(`effect ${name}`);
  }
  return { ...run, outputVaries, outcome: why.length === 0 ? "quiet" : "different", why };
}

/** The program is not there, or would have to be fetched. */
export function isMissing({ exitCode, output }: BareRun): boolean {
  return exitCode === 127 || /command not found|npm (?:error|ERR!) code E(?:AI_AGAIN|NOTCACHED|NOTFOUND)/.test(output);
}

/** Of a long output an event holds less than all, and ends within a line. */
function isSameAsFarAsShown(staged: string, bare: string): boolean {
  if (staged === bare) return true;
  const length = Math.min(staged.length, bare.length);
  if (length < longOutput) return false;
  const lines = [staged, bare].map((text) => text.slice(0, length).split("\n").slice(0, -1).join("\n"));
  return lines[0] === lines[1];
}

const longOutput = 3_500;

/** As much as an event holds, without the ledger's own lines. */
function shown(output: string): string {
  const lines = normalisedOutput(output).split("\n");
  return lines
    .filter((line) => !line.includes(".orchestration"))
    .join("\n")
    .slice(0, 12_000);
}

function firstDifference(staged = "", bare = ""): string {
  const [one, other] = [staged.split("\n"), bare.split("\n")];
  const at = one.findIndex((line, index) => line !== other[index]);
  const line = at === -1 ? one.length : at;
  return `${JSON.stringify((one[line] ?? "").slice(0, 200))} and not ${JSON.stringify((other[line] ?? "").slice(0, 200))}`;
}
