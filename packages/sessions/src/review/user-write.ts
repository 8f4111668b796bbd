import type { FileWrite } from "@gennai/governance/effect";
import { createEmergencyPolicy } from "@gennai/governance/emergency/emergency-policy";
import { runPolicies } from "@gennai/governance/gate/decide/run-policies";
import type { PolicyInput } from "@gennai/governance/policy";
import type { Finding, Verdict } from "@gennai/governance/verdict";
import { ServiceError } from "@gennai/machine/service-error";
import { workspacePolicies } from "../policies/workspace-policies.ts";
import type { Session } from "../session/session.ts";
import type { ReviewedFile } from "./reviewed-files.ts";

/** A write that a person decided on and the rules do not forbid. */
export interface UserWrite {
  /** Asks the emergency controls again, right before the effect. Throws `ServiceError`. */
  assertStillAllowed(): void;
}

/** Milliseconds a policy may take. */
const policyTimeoutMs = 5_000;

/**
 * What holds the one who applies a proposal: emergency controls, rule files, and the rules about paths and content. An ask is
 * answered, since a person decides here; a deny cannot be overruled. Rules about the agent itself (its profile, branch
 * and intent) were asked when it proposed. Throws `ServiceError` with the code of the rule.
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
  const policies = [createEmergencyPolicy(services.emergency), ...(await workspacePolicies(session))];
  const { signal } = new AbortController();
  refuseDenied((await runPolicies(policies, input, { timeoutMs: policyTimeoutMs, signal })).verdict);
  return { assertStillAllowed: () => refuseDenied(services.emergency.standingCheck.check(input)) };
}

function writeOf({ path, change, beforeSha256, text }: ReviewedFile): FileWrite {
  return {
    type: "write",
    operation: change.operation,
    path,
    // What is there now, `applyProposal` compares itself: it names every file that moved on, and knows its own writes.
    base: beforeSha256 === undefined ? undefined : { source: "disk", sha256: beforeSha256 },
    current: beforeSha256,
    ...(text === undefined ? {} : { content: text }),
  };
}

function refuseDenied(verdict: Verdict): void {
  if (verdict.type === "deny") throw refusal(verdict.finding);
}

function refusal({ code, reason, hint }: Finding): ServiceError {
  return new ServiceError("permission_denied", `Nothing was applied: ${reason}`, {
    reason: code,
    ...(hint === undefined ? {} : { hint }),
  });
}
