import { quotedCommand } from "@gennai/governance/command/shell-words";
import { ToolFailure } from "@gennai/governance/tool-error";
import { NotCommitted } from "@gennai/machine/change-set/not-committed";
import { pathsInGit } from "@gennai/machine/git-data/git-path";
import { RefValues } from "@gennai/machine/git-data/ref-values";
import { repositoryPaths } from "@gennai/machine/host/repository-paths";
import { branchNameFor } from "@gennai/protocol/branch-name";
import { neverKept, type Observation, type StageEffect } from "@gennai/stage/observe/effect";
import type { StagedTree, StagedUpdate } from "../proposal/staged-tree.ts";
import { dropOpen, type OpenStage } from "../stages/open-stages.ts";
import { type ObservedRun, runAndObserve } from "./observed-run.ts";
import { ProposedWork } from "./proposed-work.ts";
import type { StagedShellCommand, StagedSurroundings } from "./run-staged.ts";

/**
 * Ends an operation that the user's own work overtook, and makes what it changed in files a proposal. Throws `ToolFailure`
 * `stale_file`, in place of the command that would have gone on with it.
 *
 * @param moved what of the user's is not as the operation found it
 * @returns if no proposal can hold it: a run that left nothing but a new branch with all of it
 */
export async function giveUp(
  open: OpenStage,
  moved: readonly string[],
  command: StagedShellCommand,
  surroundings: StagedSurroundings,
  { signal }: { readonly signal: AbortSignal },
): Promise<ObservedRun> {
  const branch = freeBranch(open, surroundings);
  const saving = { ...command, text: saveOn(branch, open.operation), confirmed: false };
  const quiet = { signal, onOutput: () => undefined };
  const ran = await runAndObserve(saving, surroundings, quiet, { open, ends: true });
  const { run, transaction, observation } = ran;
  const [first, ...others] = moved;
  const more = others.length === 0 ? "" : ` and ${others.length} more`;
  const said = `The user changed ${first}${more} meanwhile.`;
  const rescue = await rescuing(open, observation, command, surroundings);
  if (rescue.isWhole) return rescue.end(new ToolFailure("stale_file", said));
  if (run.state !== "exited" || run.exitCode !== 0) {
    throw new ToolFailure(
      "stale_file",
      `${said} All of ${open.operation} stays in this session: ${run.output.trim()}`,
      {
        failureClass: "partial_execution",
        hint: "Tell the user. Run any command to try again, or let the user keep what is there: gennai stage keep .git",
      },
    );
  }
  const inGits = transaction.roots.map(({ path }) => pathsInGit(path));
  const saved = ["objects", "lfs/objects", `refs/heads/${branch}`, `logs/refs/heads/${branch}`];
  const isSaved = ({ root, path }: StageEffect): boolean => {
    const inGit = inGits[root]?.(path) ?? "";
    return saved.some((file) => `${file}/`.startsWith(`${inGit}/`) || inGit.startsWith(`${file}/`));
  };
  const output = `${said} So ${open.operation} of this session was given up; all of it is on the new branch ${branch}.\nBegin again, on what the user has now.\n`;
  const effects = observation.effects.filter(isSaved);
  return {
    ...ran,
    overtaken: open.operation,
    observation: { ...observation, effects },
    run: { ...run, output, exitCode: 1 },
  };
}

/** A name that no branch of the user's has. */
function freeBranch({ operation }: OpenStage, { workspaceRoot, stages }: StagedSurroundings): string {
  const refs = new RefValues(repositoryPaths(workspaceRoot, stages.home)?.writable[0] ?? "/");
  const name = branchNameFor(`${operation} given up`);
  for (let number = 1; ; number += 1) {
    const numbered = number === 1 ? name : `${name}-${number}`;
    if (refs.value(`refs/heads/${numbered}`) === undefined) return numbered;
  }
}

/** A shell command that commits the whole work tree to a branch, and touches nothing else. */
function saveOn(branch: string, operation: string): string {
  return `set -e
index=$(git rev-parse --git-path index); merged=$(git rev-parse --git-path MERGE_HEAD)
export GIT_AUTHOR_NAME=Gennai GIT_AUTHOR_EMAIL=gennai@localhost GIT_COMMITTER_NAME=Gennai GIT_COMMITTER_EMAIL=gennai@localhost
whole=$(mktemp); cp "$index" "$whole"; export GIT_INDEX_FILE="$whole"
git add --all "$(git rev-parse --show-toplevel)" 2>&1
commit=$(git commit-tree "$(git write-tree)" -p HEAD $(sed 's/^/-p /' "$merged" 2>/dev/null) -m ${quotedCommand([`What ${operation} held when it was given up`])})
git update-ref ${quotedCommand([`refs/heads/${branch}`])} "$commit"
`;
}

/**
 * Reads what an operation changed in files, because a commit takes it out of the stage.
 * @returns whether a proposal can hold all of it; and what ends the operation after a commit that failed, as `giveUp` does. If
 * a proposal cannot, the next command does that. Any other error is thrown again.
 */
export async function rescuing(
  open: OpenStage,
  { effects }: Observation,
  { command }: StagedShellCommand,
  { workspaceRoot, unfinished, stages }: StagedSurroundings,
): Promise<{ readonly isWhole: boolean; end(error: unknown): Promise<never> }> {
  const proposal = await unfinished?.();
  const updates = proposal && whatIsProposed(open, effects, { workspaceRoot, proposal, command: command.text });
  return {
    isWhole: updates !== undefined,
    end: async (error) => {
      if (!(error instanceof ToolFailure)) throw error;
      if (updates === undefined) {
        if (error.cause instanceof NotCommitted) stages.open.overtake(open, error.cause.conflicts);
        throw error;
      }
      if (updates.length > 0) proposal?.update(updates);
      await dropOpen(open);
      throw new ToolFailure(
        "stale_file",
        `${error.message} ${open.operation} of this session was dropped. Its changes of files are proposed to the user.`,
        { failureClass: "partial_execution", hint: "Begin again, on what the user has now.", cause: error },
      );
    },
  };
}

/** Undefined if it is too much for a person to review, or holds links. */
function whatIsProposed(
  { transaction }: OpenStage,
  effects: readonly StageEffect[],
  { command, ...place }: { readonly workspaceRoot: string; readonly proposal: StagedTree; readonly command: string },
): readonly StagedUpdate[] | undefined {
  const work = new ProposedWork(transaction, { ...place, effects, mayConflict: true });
  if (work.left.some(({ flags }) => !flags.some((flag) => neverKept.includes(flag)))) return undefined;
  try {
    return work.updates(new Set(effects), command).updates;
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error;
    return undefined;
  }
}
