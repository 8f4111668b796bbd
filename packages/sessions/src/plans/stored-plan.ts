import { createHash } from "node:crypto";
import type { PlanRecord } from "@gennai/governance/plan-record";
import { type ValidatedPlan, validateRinaOutput } from "@gennai/protocol/validate-rina-output";
import { StoreError } from "@gennai/store/database/store-error";
import type { BlobStore } from "@gennai/store/log/session-log";
import { planRefusal } from "./plan-refusal.ts";

/** Keeps the plan's canonical bytes under its digest. */
export async function storePlan(blobs: BlobStore, plan: ValidatedPlan): Promise<void> {
  const { sha256 } = await blobs.put(Buffer.from(plan.planJson), "application/json");
  if (sha256 !== plan.digest) throw new Error("The blob store did not keep the plan under its digest.");
}

/** The approved plan; its digest is checked again. Throws `plan_damaged` if its bytes are missing or different. */
export async function loadPlan(blobs: BlobStore, record: PlanRecord): Promise<ValidatedPlan> {
  const bytes = await storedBytes(blobs, record);
  if (bytes === undefined) throw planRefusal("plan_damaged", "The plan is no longer stored.", "Submit it again.");
  if (createHash("sha256").update(bytes).digest("hex") !== record.digest) {
    throw planRefusal("plan_damaged", "The stored plan is not the one that was submitted.", "Submit it again.");
  }
  const output = validateRinaOutput(Buffer.from(bytes).toString("utf8"), { strict: true });
  if (output.kind === "plan" && output.plan.digest === record.digest) return output.plan;
  throw planRefusal("plan_damaged", "The stored plan cannot be read any more.", "Submit it again.");
}

/** Undefined if they were purged. Throws `plan_damaged` if they differ from what was stored. */
export async function storedBytes(blobs: BlobStore, { digest }: PlanRecord): Promise<Uint8Array | undefined> {
  try {
    return await blobs.get(digest);
  } catch (cause) {
    if (!(cause instanceof StoreError) || cause.code !== "corrupt_blob") throw cause;
    throw planRefusal("plan_damaged", "The stored plan is damaged.", "Submit it again.");
  }
}
