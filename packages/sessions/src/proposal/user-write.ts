import type { FileWrite } from "@gennai/governance/effect";
import { runPolicies } from "@gennai/governance/gate/decide/run-policies";
import { forPeople, meet, switchesLimit } from "@gennai/governance/limits/limits";
import { createLimitsPolicy } from "@gennai/governance/limits/limits-policy";
import type { PolicyInput } from "@gennai/governance/policy";
import type { Verdict } from "@gennai/governance/verdict";
import { workspacePolicies } from "../policies/workspace-policies.ts";
import { refusedAct } from "../session/refuse-in-emergency.ts";
import type { Session } from "../session/session.ts";
import type { ReviewedFile } from "./reviewed-files.ts";

/** A write that a user decided on and that the rules allow. */
export interface UserWrite {
  /** Checks the emergency controls again, just before the write. Throws `ServiceError`. */
  assertStillAllowed(): void;
}

/** Maximum milliseconds for a policy. */
const policyTimeoutMs = 5_000;

/**
 * Checks the rules for a user who applies a proposal: emergency controls, rule files, and rules about paths and content. A
 * verdict "ask" is fulfilled, because a user decides here; a deny cannot be overruled. Rules about the agent itself (its
 * capabilities, branch and intent) applied when it proposed. Throws `ServiceError` with the code of the rule.
 */
export async function checkPersonsWrite(session: Session, files: readonly ReviewedFile[]): Promise<UserWrite> {
  const { services, workspace } = session;
  const input: PolicyInput = {
    callId: "apply-proposal",
    toolName: "ApplyProposal",
    args: {},
    access: "change",
    analysis: { statement: "Apply a proposal", effects: files.map(writeOf) },
    sessionId: session.id,
    turnId: "",
  };
  await workspace.syncControl();
  const limits = forPeople((await services.loadLimits()).current());
  const current = () => meet(limits, [switchesLimit(services.emergency.current())]);
  const policies = [createLimitsPolicy({ current }), ...(await workspacePolicies(session))];
  const { signal } = new AbortController();
  refuseDenied((await runPolicies(policies, input, { timeoutMs: policyTimeoutMs, signal })).verdict);
  return { assertStillAllowed: () => refuseDenied(services.emergency.standingCheck.check(input)) };
}

function writeOf({ path, change, beforeSha256, text }: ReviewedFile): FileWrite {
  return {
    type: "write",
    operation: change.operation,
    path,
    // `applyProposal` itself compares the current content: it names every file that changed, and recognises its own writes.
    base: beforeSha256 === undefined ? undefined : { source: "disk", sha256: beforeSha256 },
    current: beforeSha256,
    ...(text === undefined ? {} : { content: text }),
  };
}

function refuseDenied(verdict: Verdict): void {
  if (verdict.type === "deny") throw refusedAct("Nothing was applied", verdict.finding);
}
