import type { ServiceImpl } from "@connectrpc/connect";
import { ToolFailure } from "@gennai/governance/tool-error";
import { ServiceError } from "@gennai/machine/service-error";
import { systemErrorCode } from "@gennai/machine/system-error";
import type { AgentService } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import type { SessionManager } from "@gennai/sessions/manager/session-manager";
import { backgroundRunToWire } from "../wire/events/background-run-wire.ts";

/** Characters of one answer. */
const mostRead = 64 * 1024;
const longestWait = 30_000;

type BackgroundRpcs = Pick<
  ServiceImpl<typeof AgentService>,
  "listBackgroundRuns" | "readBackgroundRun" | "stopBackgroundRun" | "openBackgroundPort"
>;

/** What a session runs in the background. */
export function backgroundRpcs(manager: SessionManager): BackgroundRpcs {
  return {
    async listBackgroundRuns({ sessionId }) {
      const { background } = await manager.get(sessionId);
      return { runs: background.list().map(backgroundRunToWire) };
    },

    async readBackgroundRun({ sessionId, runId, after, waitMs }, { signal }) {
      const { background } = await manager.get(sessionId);
      const options = { most: mostRead, waitMs: Math.min(waitMs, longestWait), signal };
      const { text, leftOut, end, run } = await forClients(background.read(runId, Number(after), options));
      return { text, leftOut: BigInt(leftOut), end: BigInt(end), run: backgroundRunToWire(run) };
    },

    async stopBackgroundRun({ sessionId, runId }) {
      const { background } = await manager.get(sessionId);
      return { run: backgroundRunToWire(await forClients(background.stop(runId, "the user"))) };
    },

    async openBackgroundPort({ sessionId, runId, port, localPort }) {
      const { background } = await manager.get(sessionId);
      if (port < 1 || port > 65_535 || localPort > 65_535) {
        throw new ServiceError("invalid_argument", "A port is a number from 1 to 65535.");
      }
      const { local } = await forClients(background.openPort(runId, port, localPort));
      return { opened: { port, localPort: local } };
    },
  };
}

async function forClients<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ToolFailure) {
      const { hint } = error;
      throw new ServiceError("not_found", error.message, { cause: error, hint });
    }
    if (systemErrorCode(error) === "EADDRINUSE" || systemErrorCode(error) === "EACCES") {
      throw new ServiceError("failed_precondition", "This port of the server's machine cannot be used.", {
        hint: "Leave it out to use any free port.",
        cause: error,
      });
    }
    throw error;
  }
}
