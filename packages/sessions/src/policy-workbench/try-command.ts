import type { Effect } from "@gennai/governance/effect";
import type { DecideOptions } from "@gennai/governance/gate/decide-call";
import { decideFound } from "@gennai/governance/gate/decide-found";
import { judgeParts } from "@gennai/governance/gate/judge-parts";
import type { Decided } from "@gennai/governance/gate/passage";
import type { CallContext, FoundPart } from "@gennai/governance/tool";
import { ToolFailure } from "@gennai/governance/tool-error";
import { ServiceError } from "@gennai/machine/service-error";
import { runStaged, type StagedSurroundings } from "@gennai/machine/staged-shell/run-staged";

/** A command that really ran, on a stage. What it did is not true yet. */
export interface Trial {
  readonly state: string;
  /** undefined when a signal ended it. */
  readonly exitCode: number | undefined;
  /** Of the command, as far as it was kept. */
  readonly output: string;
  /** What rules say of all it did together. */
  readonly verdict: "allow" | "ask" | "deny";
  readonly changes: readonly TriedChange[];
  /** Files that are never kept, each with the reason. */
  readonly neverKept: readonly string[];
  /** Of what it changed in files: a unified diff, shortened. */
  readonly diff: string;
}

/** What is kept or dropped as a whole, e.g. one file. */
export interface TriedChange {
  /** Lower-case hex. */
  readonly id: string;
  /** Ids of changes without which this one cannot be kept. */
  readonly needs: readonly string[];
  readonly name: string;
  /** What was done, e.g. `create`, `ref refs/tags/v1`. */
  readonly what: readonly string[];
  readonly verdict: "allow" | "ask" | "deny";
  /** Empty for what is allowed. */
  readonly rule: string;
  readonly reason: string;
}

export interface TrialOptions {
  readonly timeoutMs?: number;
  /** What the command prints, as it comes. */
  readonly onOutput?: (text: string) => void;
  /** Which of its changes shall be dropped, by id; undefined: all of them. Without it, all are. */
  readonly choose?: (trial: Trial) => Promise<ReadonlySet<string> | undefined>;
}

const defaultTimeoutMs = 120_000;

/**
 * Runs a command where nothing it does is true, has that judged as in a session, and drops it, but for what is chosen. Rejects
 * with `ServiceError` `failed_precondition` where it could not run, what it did could not be told, or somebody else changed the
 * same meanwhile; nothing is kept then.
 */
export async function tryCommand(
  decided: Decided,
  surroundings: StagedSurroundings,
  {
    context,
    trial: how,
    ...options
  }: Omit<DecideOptions, "tools"> & {
    readonly context: CallContext;
    readonly trial: TrialOptions;
  },
): Promise<Trial> {
  const { timeoutMs = defaultTimeoutMs, onOutput = () => undefined, choose } = how;
  const exec = decided.analysis.effects.find((effect) => effect.type === "exec");
  if (exec === undefined) throw new Error("Only commands are tried.");
  const { command, cwd } = exec;
  const staged = await runStaged({ command, cwd: cwd.absolute, timeoutMs, confirmed: false }, surroundings, {
    signal: context.signal,
    onOutput,
  }).catch(notTried);
  let isOpen = true;
  try {
    const { parts, digest, run, left } = staged;
    const judge = async (some: readonly FoundPart[]) => {
      const found = { statement: `Keep what \`${command.text}\` changed`, parts: some, operands: { changes: digest } };
      return (await decideFound(found, decided, context, options)).verdict;
    };
    const verdict = staged.effects.length === 0 ? ({ type: "allow" } as const) : await judge(parts);
    const against = await judgeParts(parts, verdict, judge);
    const trial: Trial = {
      state: run.state,
      exitCode: run.exitCode,
      output: run.output,
      verdict: verdict.type,
      changes: parts.map((part) => {
        const said = against.get(part);
        const { rule = "", reason = "" } = said?.finding ?? {};
        const { id, needs, name } = part;
        return { id, needs, name, what: whatWasDone(part.effects), verdict: said?.type ?? "allow", rule, reason };
      }),
      neverKept: left,
      diff: staged.diff(),
    };
    const dropped = await choose?.(trial);
    if (dropped === undefined) return trial;
    isOpen = false;
    await staged.keep(dropped).catch(notTried);
    return trial;
  } finally {
    if (isOpen) await staged.drop();
  }
}

function whatWasDone(effects: readonly Effect[]): readonly string[] {
  const words = effects.flatMap((effect) => {
    if (effect.type === "git") return [`${effect.what} ${effect.name}`];
    return effect.type === "write" ? [effect.operation] : [];
  });
  return [...new Set(words)];
}

function notTried(error: unknown): never {
  if (!(error instanceof ToolFailure)) throw error;
  const { hint } = error;
  throw new ServiceError("failed_precondition", error.message, {
    cause: error,
    ...(hint === undefined ? {} : { hint }),
  });
}
