import type { FileChangeRecord } from "@gennai/agent/proposal";
import type { Effect } from "@gennai/governance/effect";
import type { ExecutionContext, Judgement, ToolOutcome } from "@gennai/governance/tool";
import { runStaged, type StagedShellRun, type StagedSurroundings } from "@gennai/machine/staged-shell/run-staged";
import type { BlobStore } from "@gennai/store/log/session-log";
import type { ToolFact } from "../tool-fact.ts";
import { commandOutcome } from "./command-outcome.ts";
import { stagedLimitNotes } from "./staged-limits.ts";

type StagedExec = Effect & { readonly type: "exec" };

/**
 * Runs a command where nothing is true yet, has judged what it did, and makes that true or drops it. Of one that did not end by
 * itself nothing is kept: nobody knows what is half done.
 */
export async function executeStaged(
  { command, cwd }: StagedExec,
  timeoutMs: number,
  surroundings: StagedSurroundings & { readonly blobs: Pick<BlobStore, "put"> },
  { signal, onOutput, judge, confirmed }: ExecutionContext,
): Promise<ToolOutcome> {
  const staged = await runStaged({ command, cwd: cwd.absolute, timeoutMs, confirmed }, surroundings, {
    signal,
    onOutput,
  });
  const { run, left, layered, stale } = staged;
  const notes = [...stagedLimitNotes(run), ...(left.length === 0 ? [] : [`[never kept: ${listed(left)}]`])];
  if (stale.length > 0) {
    notes.push(`[the workspace's own ${listed(stale)} changed: what commands of this session had made there is gone]`);
  }
  const dropped = async (why: string): Promise<ToolOutcome> => {
    await staged.drop();
    return commandOutcome(run, timeoutMs, [...notes, `[nothing it changed was kept: ${why}]`]);
  };
  if (run.state !== "exited") return dropped("it did not end by itself");
  const judgement = await judged(staged, command.text, { signal, judge });
  if (judgement.type === "drop") {
    const { message, hint, rule } = judgement.error;
    const why = [message, ...(rule === undefined ? [] : [`(rule ${rule})`]), ...(hint === undefined ? [] : [hint])];
    return { ...(await dropped(why.join(" "))), failure: { failureClass: "permission_denied", message } };
  }
  const without = new Set(judgement.dropped.map(({ id }) => id));
  const records = await keepBefore(staged, without, surroundings.blobs);
  const changes = await staged.keep(without);
  const facts: readonly ToolFact[] = records.length === 0 ? [] : [{ type: "change-set", files: records }];
  if (judgement.dropped.length > 0) {
    const names = listed(judgement.dropped.map(({ name }) => name));
    notes.push(`[not kept, as the user chose: ${names}; the rest is kept. Do without these, or ask the user.]`);
  }
  if (layered.length > 0) {
    const [first = ""] = layered;
    notes.push(
      `[git ignores ${listed(layered)}: only commands of this session see that; file tools and the user do not. ` +
        `The user gets it by: gennai stage keep ${first}]`,
    );
  }
  return {
    ...commandOutcome(run, timeoutMs, notes),
    facts,
    ...(changes.length === 0 ? {} : { changes }),
    observed: changes.map(({ path, afterSha256 }) => ({ path, source: "disk", sha256: afterSha256 })),
  };
}

/** Keeps what is about to be replaced, as an edit does. What cannot be taken back that way has its snapshot. */
async function keepBefore(
  staged: StagedShellRun,
  dropped: ReadonlySet<string>,
  blobs: Pick<BlobStore, "put">,
): Promise<readonly FileChangeRecord[]> {
  const records: FileChangeRecord[] = [];
  try {
    for (const edit of staged.edits(dropped) ?? []) {
      const { path, operation, beforeSha256, afterSha256, beforeMode, madeDirectories } = edit;
      const bytes = edit.before();
      if (bytes !== undefined) await blobs.put(bytes, "application/octet-stream");
      records.push({
        path,
        operation,
        ...(beforeSha256 === undefined ? {} : { beforeSha256 }),
        ...(afterSha256 === undefined ? {} : { afterSha256 }),
        ...(operation === "delete" && beforeMode !== undefined ? { beforeMode } : {}),
        ...(madeDirectories.length === 0 ? {} : { madeDirectories }),
      });
    }
    return records;
  } catch (error) {
    await staged.drop();
    throw error;
  }
}

/** What matters to nobody, like an empty directory, is not asked about. */
async function judged(
  staged: StagedShellRun,
  text: string,
  { signal, judge }: Pick<ExecutionContext, "signal" | "judge">,
): Promise<Judgement> {
  const { effects, parts, digest } = staged;
  if (effects.length === 0) return { type: "keep", dropped: [] };
  try {
    signal.throwIfAborted();
    const paths = effects.flatMap((effect) => ("path" in effect ? [effect.path.raw] : []));
    const what = paths.length === 0 ? "in git's data" : listed(paths);
    const statement = `Keep what \`${text}\` changed: ${what}`;
    return await judge({ statement, parts, operands: { changes: digest }, diff: () => staged.diff() });
  } catch (error) {
    await staged.drop();
    throw error;
  }
}

const maxListed = 20;

function listed(names: readonly string[]): string {
  const more = names.length - maxListed;
  return `${names.slice(0, maxListed).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
