import type { PlanRecord } from "@gennai/governance/plan-record";
import type { Session } from "../session/session.ts";
import { planRefusal } from "./plan-refusal.ts";

/** Throws `unknown_plan`. */
export function recordOf(session: Session, planId: string): PlanRecord {
  const record = session.state.plans.get(planId);
  if (record === undefined)
    throw planRefusal("unknown_plan", "This session has no such plan.", "Submit it, or list the plans.");
  return record;
}

/** Exactly 64 lower-case hexadecimal digits. */
export function assertDigest(record: PlanRecord, digest: string): void {
  if (!/^[0-9a-f]{64}$/.test(digest)) {
    throw planRefusal("bad_digest", "The plan's digest must be 64 lower-case hexadecimal digits.");
  }
  if (digest === record.digest) return;
  throw planRefusal(
    "digest_mismatch",
    "The digest is not that of this plan: it is another plan, or it was changed.",
    "Look at the plan as the server has it.",
  );
}

/** Throws `proposal_mode`: the server carries out plans itself, which it never does in Proposal Mode. */
export function assertBranchMode({ settings }: Session): void {
  if (settings.editingMode === "branch") return;
  throw planRefusal(
    "proposal_mode",
    "A plan writes files and runs commands, and in Proposal Mode neither is done.",
    "Switch the session to Branch Mode, then preview the plan.",
  );
}

/** Throws `head_moved`. */
export function assertHead(before: string, now: string): void {
  if (before === now) return;
  throw planRefusal(
    "head_moved",
    "The workspace is on another commit or branch than when the plan was previewed.",
    "Preview and approve it again.",
  );
}
