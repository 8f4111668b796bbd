import type { ServiceImpl } from "@connectrpc/connect";
import { ServiceError } from "@gennai/machine/service-error";
import type { GovernanceService } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import {
  callTraceToMessage,
  lineTraceToMessage,
  mostTracedBytes,
  type TracedOrigin,
  type TracedRun,
} from "@gennai/protocol/model/governance/line-trace";
import { KnownWorkspaces } from "@gennai/provenance/known-workspaces";
import { remainingLines } from "@gennai/provenance/remaining-lines";
import { heldByClient } from "@gennai/sessions/client-workspace/held-by-client";
import type { SessionManager } from "@gennai/sessions/manager/session-manager";

/** The tenant whose lines are traced. */
export interface TracedTenant {
  readonly manager: Pick<SessionManager, "get">;
  readonly stateDir: string;
  /** Writes what the ledgers' files do not have yet. */
  readonly flushLedgers: () => Promise<void>;
}

/** Who wrote lines, and which lines of a call there are: the same as `gennai blame`. */
export function traceRpcs(
  { manager, stateDir, flushLedgers }: TracedTenant,
  placeOf: (sessionId: string) => Promise<{ readonly workspaceRoot: string }>,
): Pick<ServiceImpl<typeof GovernanceService>, "traceLines" | "traceCall"> {
  const known = new KnownWorkspaces(stateDir, flushLedgers);
  return {
    async traceLines({ sessionId, path, text }) {
      const { workspaceRoot } = await placeOf(sessionId);
      checkTraced(path, text);
      const provenance = await known.of(workspaceRoot);
      return lineTraceToMessage({ trust: provenance.trust, runs: runsOf(await provenance.originsOf(path, text)) });
    },

    async traceCall({ sessionId, turnId, callId }) {
      if (turnId === "" || callId === "")
        throw new ServiceError("invalid_argument", "Name a call: turn_id and call_id.");
      const { workspace } = await manager.get(sessionId);
      if (workspace.client !== undefined) throw heldByClient("The lines of a call cannot be traced there.");
      const provenance = await known.of(workspace.place);
      const remaining = await remainingLines(provenance, { sessionId, turnId, callId }, workspace.place);
      return callTraceToMessage({ trust: provenance.trust, ...remaining });
    },
  };
}

function checkTraced(path: string, text: string): void {
  const isPath = path !== "" && path.length <= 4096 && !path.startsWith("/") && !/(^|\/)\.\.(\/|$)|\0/.test(path);
  if (!isPath) throw new ServiceError("invalid_argument", "path must be relative to the workspace, with slashes.");
  if (Buffer.byteLength(text) > mostTracedBytes) {
    throw new ServiceError("invalid_argument", `text has at most ${mostTracedBytes} bytes.`);
  }
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
