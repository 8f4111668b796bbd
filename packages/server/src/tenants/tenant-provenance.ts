import type { TracedOrigin, TracedRun } from "@gennai/protocol/model/governance/line-trace";
import { KnownWorkspaces } from "@gennai/provenance/known-workspaces";
import { remainingLines } from "@gennai/provenance/remaining-lines";
import type { GovernanceServiceOptions } from "../rpc/governance-service.ts";

/**
 * Provenance of lines in a tenant's workspaces: the same as `gennai blame`.
 * @param flushLedgers writes what the ledgers' files do not have yet
 */
export function tenantProvenance(
  stateDir: string,
  flushLedgers: () => Promise<void>,
): GovernanceServiceOptions["provenance"] {
  const known = new KnownWorkspaces(stateDir, flushLedgers);
  return {
    async lines(workspaceRoot, { path, text }) {
      const provenance = await known.of(workspaceRoot);
      return { trust: provenance.trust, runs: runsOf(await provenance.originsOf(path, text)) };
    },
    async call(workspaceRoot, call) {
      const provenance = await known.of(workspaceRoot);
      return { trust: provenance.trust, ...(await remainingLines(provenance, call, workspaceRoot)) };
    },
  };
}

/** Joins consecutive lines with the same origin. */
function runsOf(origins: readonly TracedOrigin[]): readonly TracedRun[] {
  const runs: { firstLine: number; lineCount: number; origin: TracedOrigin }[] = [];
  for (const [at, origin] of origins.entries()) {
    const last = runs.at(-1);
    if (last !== undefined && isSame(last.origin, origin)) last.lineCount += 1;
    else runs.push({ firstLine: at + 1, lineCount: 1, origin });
  }
  return runs;
}

function isSame(one: TracedOrigin, other: TracedOrigin): boolean {
  if (one.type === "recorded" && other.type === "recorded") {
    return one.write === other.write && one.method === other.method && one.confidence === other.confidence;
  }
  if (one.type === "recorded" || other.type === "recorded" || one.reason !== other.reason) return false;
  return (
    one.candidates.length === other.candidates.length &&
    one.candidates.every((write, at) => write === other.candidates[at])
  );
}
