import type { ServiceImpl } from "@connectrpc/connect";
import { ServiceError } from "@gennai/machine/service-error";
import type { AgentService } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { digest } from "@gennai/protocol/model/checked-field";
import type { ServerAttempts } from "@gennai/sessions/attempts/server-attempts";
import type { SessionManager } from "@gennai/sessions/manager/session-manager";
import { attemptsRequestFromWire, attemptsToWire } from "../wire/attempt-wire.ts";

type AttemptRpcs = Pick<
  ServiceImpl<typeof AgentService>,
  "startAttempts" | "listAttempts" | "stopAttempts" | "takeAttempt" | "dropAttempts" | "getAttemptContent"
>;

/** A prompt tried several times: begun, watched, stopped, and taken. */
export function attemptRpcs(manager: SessionManager, attempts: ServerAttempts): AttemptRpcs {
  const { redactor } = manager.services;
  return {
    async startAttempts(request) {
      const wanted = attemptsRequestFromWire(request);
      const session = await manager.get(request.sessionId);
      return { attempts: await attemptsToWire(await attempts.start(session, wanted), redactor) };
    },

    async listAttempts({ sessionId }) {
      const all = attempts.list(await manager.get(sessionId));
      return { attempts: await Promise.all(all.map((one) => attemptsToWire(one, redactor))) };
    },

    async stopAttempts({ sessionId, attemptsId, number }) {
      if (number < 0) throw new ServiceError("invalid_argument", "number cannot be negative.");
      const stopped = await attempts.stop(await manager.get(sessionId), attemptsId, number);
      return { attempts: await attemptsToWire(stopped, redactor) };
    },

    async takeAttempt({ sessionId, attemptsId, number }) {
      return { proposalId: await attempts.take(await manager.get(sessionId), attemptsId, number) };
    },

    async dropAttempts({ sessionId, attemptsId }) {
      await attempts.drop(await manager.get(sessionId), attemptsId);
      return {};
    },

    async getAttemptContent({ sessionId, attemptsId, sha256 }) {
      const session = await manager.get(sessionId);
      return { content: await attempts.content(session, attemptsId, digest(sha256)) };
    },
  };
}
