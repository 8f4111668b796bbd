import type { UncoveredKey } from "@gennai/egress/keys/login/user-keys";
import type { OwnLogins } from "@gennai/egress/keys/own-logins";
import type { Effect } from "@gennai/governance/effect";
import { shownName, shownNames } from "@gennai/governance/shown-names";
import type { ExecutionContext, Judgement, ToolOutcome } from "@gennai/governance/tool";
import { ToolFailure } from "@gennai/governance/tool-error";
import { runProposed } from "@gennai/shell/run/run-proposed";
import { runStaged, type StagedShellRun, type StagedSurroundings } from "@gennai/shell/run/run-staged";
import type { LeftCommit } from "../../session/interrupted-turn.ts";
import type { ToolFact } from "../tool-fact.ts";
import { waysToKeep } from "../ways-to-keep.ts";
import { commandOutcome, jobNotes } from "./command-outcome.ts";
import { type EditContents, type EditRecords, editRecords } from "./edit-records.ts";
import { lostWrites } from "./lost-writes.ts";
import { type NetworkedRun, type RunWays, runWithNetwork } from "./run-with-network.ts";

type StagedExec = Effect & { readonly type: "exec" };

/**
 * Runs a command on a copy, has its changes judged, and keeps or drops them. If it did not end by itself, nothing is kept: its
 * changes may be incomplete.
 */
export async function executeStaged(
  { command, cwd }: StagedExec,
  timeoutMs: number,
  surroundings: Omit<StagedSurroundings, "logins"> &
    EditContents & {
      readonly key?: UncoveredKey;
      /** The user's logins that it may use by a yes, and their masking; default: none. */
      readonly logins?: { readonly own: OwnLogins; learn(secret: string): void };
      /** Why none of its changes is kept. */
      readonly keepsNothing?: string | undefined;
    },
  context: ExecutionContext,
): Promise<ToolOutcome> {
  const { proposal, key, logins, ...place } = surroundings;
  const shellCommand = { command, cwd: cwd.absolute, timeoutMs, confirmed: context.confirmed, key };
  const run = (ways: RunWays): Promise<StagedShellRun> => {
    for (const { secrets } of ways.logins ?? []) for (const secret of secrets) logins?.learn(secret);
    return proposal === undefined
      ? runStaged(shellCommand, { ...place, ...ways }, context)
      : runProposed(shellCommand, { ...place, ...ways, proposal }, context);
  };
  const ended = await runWithNetwork(
    { ...surroundings, command, cwd: cwd.absolute },
    run,
    { given: surroundings.allowed, own: logins?.own },
    context,
  );
  const { keepsNothing, workspaceRoot } = surroundings;
  return settle(ended, { command, workspaceRoot, timeoutMs, contents: surroundings, keepsNothing }, context);
}

/** Judges its changes, and keeps or drops them. */
async function settle(
  { staged, notes: ofNetwork }: Pick<NetworkedRun, "staged" | "notes">,
  {
    command,
    workspaceRoot,
    timeoutMs,
    contents,
    keepsNothing,
  }: Pick<StagedExec, "command"> & {
    readonly workspaceRoot: string;
    readonly timeoutMs: number;
    readonly contents: EditContents;
    readonly keepsNothing: string | undefined;
  },
  { signal, judge, callId }: ExecutionContext,
): Promise<ToolOutcome> {
  const { run, left, layered, stale, refused, unsigned, operation } = staged;
  const lost = lostWrites(command, workspaceRoot);
  const notes = [
    ...ofNetwork,
    ...jobNotes(command.text),
    ...stagedLimitNotes(run),
    ...(lost.length === 0 ? [] : [`[outside the workspace, so not kept: ${shownNames(lost)}]`]),
    ...(unsigned === true ? ["[commits are unsigned; sign with: git commit --amend --no-edit -S]"] : []),
    ...(left.length === 0 ? [] : [`[never kept: ${shownNames(left)}]`]),
  ];
  if (stale.length > 0) {
    notes.push(
      `[the workspace's own ${shownNames(stale)} changed: what commands of this session had made there is gone]`,
    );
  }
  const nothingKept = async (why: string, hint?: string): Promise<ToolOutcome> => {
    await staged.drop({ forGood: true });
    const forModel = hint === undefined ? [] : [`[for the model: ${hint}]`];
    return commandOutcome(run, timeoutMs, [...notes, `[nothing it changed was kept: ${why}]`, ...forModel]);
  };
  if (operation !== undefined) notes.push(underWay(operation));
  else if (run.state !== "exited") return nothingKept("it did not end by itself");
  if (keepsNothing !== undefined) return nothingKept(keepsNothing);
  if (refused !== undefined) {
    return {
      ...(await nothingKept(refused)),
      failure: { failureClass: "permission_denied", message: `Nothing was kept: ${refused}.` },
    };
  }
  const judgement = await judged(staged, command.text, { signal, judge });
  if (judgement.type === "drop") {
    const { message, hint, rule } = judgement.error;
    const isNamed = rule === undefined || message.includes(`(rule ${rule})`);
    const why = isNamed ? message : `${message} (rule ${rule})`;
    return { ...(await nothingKept(why, hint)), failure: { failureClass: "permission_denied", message } };
  }
  const without = new Set(judgement.dropped.map(({ id }) => id));
  const records = await keepContents(staged, without, contents);
  const {
    changes,
    refs = [],
    notInLayer,
  } = await staged.keep(without, {
    record: (moves) => ({ toolCallId: callId, ...records, refs: moves }) satisfies LeftCommit,
  });
  const facts: readonly ToolFact[] =
    records.files.length + records.directories.length + refs.length === 0
      ? []
      : [{ type: "change-set", ...records, refs }];
  const dropped = judgement.dropped.map(({ name }) => name);
  if (dropped.length > 0) {
    notes.push(
      `[not kept, without a yes of the user's: ${shownNames(dropped)}; the rest is kept. Do without these, or ask the user.]`,
    );
  }
  if (notInLayer !== undefined) {
    notes.push(
      `[git ignores ${shownNames(layered)}: later commands do not see that, because of ${notInLayer}; all else is kept]`,
    );
  } else {
    const refs = layered.filter((path) => path.startsWith(".git/refs/"));
    const ignored = layered.filter((path) => !path.startsWith(".git/"));
    for (const [what, paths] of [
      ["git ignores", ignored],
      ["only branches reach the user's repository, not", refs],
    ] as const) {
      if (paths.length === 0) continue;
      notes.push(
        `[${what} ${shownNames(paths)}: only commands of this session see that; file tools and the user do not. ` +
          `The user gets it by: ${waysToKeep(shownName(paths[0] ?? ""))}]`,
      );
    }
  }
  return {
    ...commandOutcome(run, timeoutMs, notes),
    facts,
    ...(dropped.length === 0 ? {} : { dropped }),
    ...(changes.length === 0 ? {} : { changes }),
    ...(refs.length === 0 ? {} : { refs }),
    observed: changes.map(({ path, afterSha256 }) => ({ path, source: "disk", sha256: afterSha256 })),
  };
}

function underWay(operation: string): string {
  return (
    `[${operation} is under way: what you change now, also by file tools, stays in this session, and becomes true as a whole ` +
    "when it has ended (commit, --continue, --abort, or back on the branch)]"
  );
}

/** Stores the contents before and after, as an edit does. */
async function keepContents(
  staged: StagedShellRun,
  dropped: ReadonlySet<string>,
  contents: EditContents,
): Promise<EditRecords> {
  try {
    return await editRecords(staged.edits(dropped), contents);
  } catch (error) {
    await staged.drop();
    throw error;
  }
}

/** Changes without significance, like an empty directory, are not asked about. */
async function judged(
  staged: StagedShellRun,
  text: string,
  { signal, judge }: Pick<ExecutionContext, "signal" | "judge">,
): Promise<Judgement> {
  const { effects, parts, digest, overtaken } = staged;
  if (effects.length === 0) return { type: "keep", dropped: [] };
  try {
    signal.throwIfAborted();
    const paths = effects.flatMap((effect) => ("path" in effect ? [effect.path.raw] : []));
    const what = paths.length === 0 ? "in git's data" : shownNames(paths);
    const statement = `Keep what ${overtaken === undefined ? `\`${text}\`` : `${overtaken}, on a branch,`} changed: ${what}`;
    return await judge({ statement, parts, operands: { changes: digest }, diff: () => staged.diff() });
  } catch (error) {
    await staged.drop();
    if (signal.aborted) throw stoppedBeforeKept();
    throw error;
  }
}

function stoppedBeforeKept(): ToolFailure {
  return new ToolFailure("stopped", "The turn was stopped before the command's changes were kept: nothing is kept.", {
    failureClass: "partial_execution",
  });
}

/** What does not work in staged commands: a pattern in their output, and a note with the alternative. */
const limits: readonly (readonly [printed: RegExp, note: string])[] = [
  [
    /\bEXDEV\b|cross-device link/i,
    "[a program cannot rename a directory that was there before: use `mv OLD NEW`, then `git add -A OLD NEW`]",
  ],
  [
    /could not create leading directories of '.*\.git': Read-only/,
    "[a work tree outside of the workspace cannot be kept: make it in a directory that git ignores]",
  ],
  [
    // The first link to a workspace file copies it to the stage, and the copy has another inode number.
    /\bhardlink different from source\b/,
    "[git cannot link what a clone shares with a repository that was there before: use `git clone --no-hardlinks`]",
  ],
  [
    /\bENETUNREACH\b|network is unreachable/i,
    "[a connection to a bare address is seen only of programs that know HTTP_PROXY: use a host's name, or such a program]",
  ],
];

/** Notes for the model about a failed command that met such a limit. */
function stagedLimitNotes({ exitCode, output }: { readonly exitCode?: number | undefined; readonly output: string }) {
  return exitCode === 0 ? [] : limits.flatMap(([printed, note]) => (printed.test(output) ? [note] : []));
}
