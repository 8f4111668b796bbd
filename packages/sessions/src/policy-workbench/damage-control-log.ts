import type { RuleViolation } from "@gennai/governance/rules/violation";
import { ServiceError } from "@gennai/machine/service-error";
import type { SessionLog } from "@gennai/store/log/session-log";

/** One entry of the `damage-control-log`: what a rule stopped or asked about. Text in it is redacted. */
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
 * The interceptions by the rules in a workspace's sessions, or in one session, oldest first.
 * Throws `ServiceError` `not_found` for a session that is not there.
 */
export async function damageControlLog(
  log: Pick<SessionLog, "head" | "list" | "read">,
  place: { readonly workspaceRoot: string; readonly sessionId?: string },
): Promise<readonly DamageControlEntry[]> {
  const { workspaceRoot, sessionId } = place;
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
