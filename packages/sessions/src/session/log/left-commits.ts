import type { DirectoryChangeRecord, FileChangeRecord } from "@gennai/agent/events/proposal";
import type { SessionEvent } from "@gennai/agent/events/session-event";
import type { RefMove } from "@gennai/governance/tool";
import * as z from "zod";
import type { SessionState } from "../state/session-state.ts";

/** What is kept beside a command's commit until the session's log has it. */
export interface LeftCommit {
  readonly toolCallId: string;
  readonly files: readonly FileChangeRecord[];
  readonly directories: readonly DirectoryChangeRecord[];
  readonly refs: readonly RefMove[];
}

const schema: z.ZodType<LeftCommit> = z.object({
  toolCallId: z.string(),
  files: z.array(z.looseObject({ path: z.string(), operation: z.enum(["create", "update", "delete"]) })),
  directories: z.array(
    z.object({ path: z.string(), beforeMode: z.number().optional(), afterMode: z.number().optional() }),
  ),
  refs: z.array(z.object({ name: z.string(), from: z.string().optional(), to: z.string().optional() })),
});

/**
 * The change sets of commits that a server completed and could not record, of calls that have no result.
 * @param records beside the commits of the session, newest first
 */
export function leftCommits(
  state: Pick<SessionState, "isUnderWay" | "changesUnderWay">,
  turnId: string,
  records: readonly unknown[],
): readonly Extract<SessionEvent, { readonly type: "change-set-applied" }>[] {
  return records.toReversed().flatMap((record) => {
    const { data } = schema.safeParse(record);
    if (data === undefined || !state.isUnderWay(data.toolCallId) || state.changesUnderWay.has(data.toolCallId))
      return [];
    return [{ type: "change-set-applied", changeSetId: turnId, ...data }];
  });
}
