import { existsSync } from "node:fs";
import type { RuleViolation } from "@gennai/governance/rules/violation";
import { ServiceError } from "@gennai/machine/service-error";
import { databaseFile } from "@gennai/store/database/database";
import { openStore } from "@gennai/store/sqlite/store";

/** One entry of the `damage-control-log`: what a rule stopped or asked about. Redacted. */
export interface DamageControlEntry extends RuleViolation {
  readonly sessionId: string;
  readonly turnId: string;
  readonly seq: number;
  /** Milliseconds since the epoch. */
  readonly time: number;
}

const pageSize = 1000;
const maxSessions = 100_000;

/**
 * What rules stopped or asked about in a workspace's sessions, or in one session, oldest first, from the state directory's
 * store; creates no store. Rejects with `StoreError`, and with `ServiceError` `not_found` for an unknown session.
 */
export async function damageControlLog(request: {
  readonly stateDir: string;
  readonly workspaceRoot: string;
  readonly sessionId?: string | undefined;
  readonly onWarning: (text: string) => void;
}): Promise<readonly DamageControlEntry[]> {
  const { stateDir, workspaceRoot, sessionId, onWarning } = request;
  if (!existsSync(databaseFile(stateDir))) return [];
  await using store = await openStore(stateDir, { onWarning });
  const { log } = store;
  const sessions =
    sessionId === undefined
      ? await log.list({ workspaceRoot, limit: maxSessions })
      : [await log.head(sessionId)].filter((head) => head !== undefined);
  if (sessionId !== undefined && sessions.length === 0) {
    throw new ServiceError("not_found", `There is no session ${sessionId}.`, { hint: "gennai sessions lists them." });
  }
  const entries: DamageControlEntry[] = [];
  for (const session of sessions) {
    for (let after = 0; ; ) {
      const page = await log.read(session.sessionId, after, pageSize);
      for (const { event, seq, turnId, time } of page) {
        if (event.type !== "rule-violation") continue;
        const { toolCallId, tool, input, rule, action } = event;
        entries.push({ sessionId: session.sessionId, turnId, seq, time, toolCallId, tool, input, rule, action });
      }
      after = page.at(-1)?.seq ?? after;
      if (page.length < pageSize) break;
    }
  }
  return entries.toSorted((one, other) => one.time - other.time);
}
