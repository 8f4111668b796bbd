import type { ServiceImpl } from "@connectrpc/connect";
import { ServiceError } from "@gennai/machine/service-error";
import type { AgentService } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { digest } from "@gennai/protocol/model/checked-field";
import { type AttemptSet, attemptSetToMessage } from "@gennai/protocol/model/session/attempt";
import type { ServerAttempts } from "@gennai/sessions/attempts/server-attempts";
import type { SessionManager } from "@gennai/sessions/manager/session-manager";
import { attemptsRequestFromWire } from "../wire/attempts-request.ts";

type AttemptRpcs = Pick<
  ServiceImpl<typeof AgentService>,
  "startAttempts" | "listAttempts" | "stopAttempts" | "takeAttempt" | "dropAttempts" | "getAttemptContent"
>;

/** A prompt tried several times: begun, watched, stopped, and taken. */
export function attemptRpcs(manager: SessionManager, attempts: ServerAttempts): AttemptRpcs {
  const redact = (text: string) => manager.services.redactor.redact(text);
  /** For clients: without what is secret. */
  const shown = async (set: AttemptSet) => {
    const attempts = set.attempts.map(async (attempt) => ({
      ...attempt,
      checkOutput: await redact(attempt.checkOutput),
      text: await redact(attempt.text),
    }));
    const [prompt, check] = [await redact(set.prompt), await redact(set.check)];
    return attemptSetToMessage({ ...set, prompt, check, attempts: await Promise.all(attempts) });
  };
  return {
    async startAttempts(request) {
      const wanted = attemptsRequestFromWire(request);
      const session = await manager.get(request.sessionId);
      return { attempts: await shown(await attempts.start(session, wanted)) };
    },

    async listAttempts({ sessionId }) {
      return { attempts: await Promise.all(attempts.list(await manager.get(sessionId)).map(shown)) };
    },

    async stopAttempts({ sessionId, attemptsId, number }) {
      if (number < 0) throw new ServiceError("invalid_argument", "number cannot be negative.");
      return { attempts: await shown(await attempts.stop(await manager.get(sessionId), attemptsId, number)) };
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
