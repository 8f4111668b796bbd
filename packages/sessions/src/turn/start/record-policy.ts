import { limitsDigest } from "@gennai/governance/limits/limits";
import type { Session } from "../../session/session.ts";

/** Records the policies in force at the session's first turn here, and when they changed: work is known by what limited it. */
export async function recordPolicy(session: Session): Promise<void> {
  const { current, files } = await session.services.loadLimits();
  const limits = current();
  const sha256 = limitsDigest(limits);
  if (sha256 === session.policyRecorded || (limits.length === 0 && session.policyRecorded === "")) return;
  const serials = limits.flatMap(({ serial }) => serial ?? []);
  const policy = { name: limits.map(({ name }) => name).join(", "), serial: serials, sha256, files };
  await session.decided([], "session", { policy });
  session.policyRecorded = sha256;
}
