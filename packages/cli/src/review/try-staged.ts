import { homedir } from "node:os";
import { defaultStateDir } from "@gennai/machine/config/state-directory";
import type { TriedChange } from "@gennai/sessions/policy-workbench/offer-staged";
import { PolicyWorkbench } from "@gennai/sessions/policy-workbench/policy-workbench";
import type { Trial, TrialOptions } from "@gennai/sessions/policy-workbench/try-command";
import { usageError } from "../terminal/cli-error.ts";
import { paintFor } from "../terminal/colours.ts";
import { type Console, commandName } from "../terminal/console.ts";
import { exitCode } from "../terminal/exit-code.ts";
import { jsonLine, terminalSafe } from "../terminal/terminal-safe.ts";
import { version } from "../terminal/version.ts";
import {
  decideOffer,
  describeKept,
  describeOffer,
  keptOf,
  type OfferContext,
  type OfferDecision,
} from "./offered-changes.ts";

export interface TryFlags {
  readonly workspace?: string;
  readonly keep?: boolean;
  readonly drop?: boolean;
  /** With `keep`: further changes to keep, see `keptUnasked`. */
  readonly include?: readonly string[];
  /** `HOST:PORT`s that it may reach without a question. */
  readonly allow?: readonly string[];
  /** True to ask also without a terminal. */
  readonly ask?: boolean;
  /** Seconds. */
  readonly timeout: string;
  readonly json?: boolean;
}

/** A person's command, and its options. */
export interface StagedTry extends Pick<TrialOptions, "network" | "agent"> {
  readonly command: string;
  readonly seconds: number;
  /** Real path. */
  readonly workspace: string;
  /** If aborted while the command runs, ends it, and `tryStaged` rejects with the reason. Later, it has no effect. */
  readonly ending?: AbortSignal;
}

const maxSeconds = 86_400;

/** Throws `CliError` for flags that do not go together. */
export function checkedSeconds(flags: TryFlags): number {
  if (flags.keep === true && flags.drop === true) throw usageError("Say --keep or --drop, not both.");
  if (flags.include !== undefined && flags.keep !== true) throw usageError("--include goes with --keep.");
  const seconds = Number(flags.timeout);
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > maxSeconds)
    throw usageError(`--timeout is a whole number of seconds from 1 to ${maxSeconds}.`);
  return seconds;
}

/** Runs a command on a stage, shows what it changed, and keeps what is wanted. Rejects with `CliError` if it cannot run. */
export async function tryStaged(
  { command, seconds, workspace, ending, ...trialOptions }: StagedTry,
  flags: TryFlags,
  place: OfferContext,
): Promise<number> {
  const { console, signal } = place;
  await using workbench = await openStagingWorkbench(workspace, console);
  const { output } = console;
  const paint = paintFor(output, console.environment);
  let decision: OfferDecision = nothingKept;
  const ended = new AbortController();
  const end = (): void => ended.abort(ending?.reason);
  ending?.addEventListener("abort", end, { once: true });
  if (ending?.aborted === true) end();
  const { report, trial } = await workbench.try(command, {
    evenIfRefused: true,
    timeoutMs: seconds * 1000,
    signal: AbortSignal.any([signal, ended.signal]),
    ...trialOptions,
    onOutput: (text) => {
      if (flags.json !== true) output.write(terminalSafe(text));
    },
    choose: async (offer, proposed) => {
      ending?.removeEventListener("abort", end);
      if (flags.json !== true) output.write(terminalSafe(offer.notes.map((note) => `${note}\n`).join("")));
      if (flags.json !== true) output.write(describeOffer(offer, paint));
      if (hasChoice(offer, flags)) decision = await decideOffer(offer, proposed, wishes(flags), place);
      return decision.chosen;
    },
  });
  if (trial === undefined) throw usageError(report.reason);
  const kept = keptOf(trial.changes, decision);
  if (flags.json === true) output.write(`${jsonLine({ ...trial, ...keptNames(kept, decision) })}\n`);
  else output.write(outcome(trial, kept, { decision, name: commandName(console.environment) }));
  return decision.unasked ? exitCode.refused : (trial.exitCode ?? exitCode.failed);
}

const nothingKept: OfferDecision = { chosen: undefined, unasked: false };

/** False for a command that was ended, because its work may be incomplete. */
function hasChoice({ changes, state }: Trial, flags: TryFlags): boolean {
  return changes.length > 0 && state === "exited" && flags.drop !== true;
}

function wishes({ keep = false, ask = false, include = [] }: TryFlags): Parameters<typeof decideOffer>[2] {
  return { keep, ask, include };
}

function keptNames(kept: readonly TriedChange[], { chosen }: OfferDecision): Record<string, readonly string[]> {
  const inPart = kept.filter(({ id }) => chosen?.inPart?.has(id) === true);
  return { kept: kept.map(({ name }) => name), keptInPart: inPart.map(({ name }) => name) };
}

function outcome(
  { state, exitCode: code, changes }: Trial,
  kept: readonly TriedChange[],
  { decision, name }: { readonly decision: OfferDecision; readonly name: string },
): string {
  const end = code === undefined ? `It did not end by itself (${state})` : `Exit code ${code}`;
  if (changes.length === 0) return `${end}; it changed nothing.\n`;
  if (kept.length === 0) {
    const next = decision.unasked ? " Run it in a terminal, or say --keep or --drop." : "";
    return `${end}; nothing of it was kept, the workspace is as before.${next}\n`;
  }
  const inPart = decision.chosen?.inPart?.size ?? 0;
  const all =
    kept.length === changes.length && inPart === 0
      ? "all of it was"
      : `${kept.length} of ${changes.length} changes were`;
  return `${end}; ${all} kept${inPart === 0 ? "" : `, ${inPart} of them in part`}.\n${describeKept(changes, kept, name)}`;
}

/** Opens what stages and judges a person's own work in a workspace. Rejects if nothing can be staged. */
function openStagingWorkbench(workspace: string, console: Console): Promise<PolicyWorkbench> {
  const { environment } = console;
  const configDir = environment["XDG_CONFIG_HOME"];
  return PolicyWorkbench.open({
    workspace,
    stateDir: defaultStateDir(environment),
    home: environment["HOME"] ?? homedir(),
    commands: "staged",
    environment,
    toolVersion: version,
    onWarning: (text) => void console.errors.write(`warning: ${terminalSafe(text)}\n`),
    ...(configDir?.startsWith("/") === true ? { configDir } : {}),
  });
}
