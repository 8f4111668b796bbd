import { limitsDigest } from "@gennai/governance/limits/limits";
import type { PlanPreview } from "@gennai/governance/plan-change";
import { readGitHead } from "@gennai/machine/git-data/git-head";
import { digestOf } from "@gennai/protocol/digest";
import type { Session } from "../session/session.ts";
import { type PlanRefusalReason, planRefusal } from "./plan-refusal.ts";

/** What a preview depends on besides the rules and the plan's own files, at this moment. */
export async function previewBasis(
  session: Session,
): Promise<Pick<PlanPreview, "head" | "capabilitiesSha256" | "emergencySha256" | "intentSha256">> {
  const { services, state, workspace } = session;
  const limits = (await services.loadLimits()).current();
  const { readOnly, disableHighImpact, blockedTools, stopAll } = services.emergency.current();
  const { intents } = await services.governanceOf(workspace);
  const { on, active } = await intents.rules(state.activeIntentId);
  return {
    head: headOf(workspace.controlRoot),
    capabilitiesSha256: limitsDigest(limits),
    emergencySha256: digestOf({ readOnly, disableHighImpact, blockedTools, stopAll }),
    intentSha256: digestOf({
      on,
      selected: state.activeIntentId ?? null,
      active: active === undefined ? null : { id: active.id, scope: active.ownedScope },
    }),
  };
}

/** Throws the refusal that names what has changed since the approval. */
export function assertSamePreview(approved: PlanPreview, now: PlanPreview): void {
  for (const { member, reason, message } of bound) {
    if (approved[member] !== now[member]) throw planRefusal(reason, message, "Preview and approve it again.");
  }
}

/** In the order of reporting: the most helpful reason first. */
const bound: readonly {
  readonly member: Exclude<keyof PlanPreview, "denied">;
  readonly reason: PlanRefusalReason;
  readonly message: string;
}[] = [
  {
    member: "head",
    reason: "head_moved",
    message: "The workspace is on another commit or branch than when the plan was previewed.",
  },
  {
    member: "policySha256",
    reason: "policy_changed",
    message: "The rules changed since the plan was approved.",
  },
  {
    member: "capabilitiesSha256",
    reason: "capabilities_changed",
    message: "What is permitted here changed since the plan was approved: another policy is in force.",
  },
  {
    member: "emergencySha256",
    reason: "emergency_changed",
    message: "An emergency control was switched since the plan was approved.",
  },
  {
    member: "intentSha256",
    reason: "intent_changed",
    message: "The session works under another intent than when the plan was approved.",
  },
  {
    member: "shownSha256",
    reason: "preview_changed",
    message: "The plan would do something else now than what was approved: a file, or a verdict on it, changed.",
  },
];

/**
 * Commit and branch of a workspace as text, only for comparison.
 * @param root where git's files are read: `controlRoot` of the workspace
 */
export function headOf(root: string): string {
  const head = readGitHead(root);
  if (head.type === "none") return "none";
  return JSON.stringify([head.type === "branch" ? head.branch : null, head.commit ?? null]);
}
