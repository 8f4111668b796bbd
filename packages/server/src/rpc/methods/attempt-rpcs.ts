import type { ServiceImpl } from "@connectrpc/connect";
import { parseEndpoint } from "@gennai/governance/endpoint";
import { ServiceError } from "@gennai/machine/service-error";
import type { AgentService } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import type { StartAttemptsRequest } from "@gennai/protocol/gen/gennai/agent/v1/attempt_pb";
import { digest } from "@gennai/protocol/model/checked-field";
import { type AttemptSet, attemptSetToMessage, mostAttempts } from "@gennai/protocol/model/session/attempt";
import type { AttemptsRequest } from "@gennai/sessions/attempts/make-attempt";
import type { ServerAttempts } from "@gennai/sessions/attempts/server-attempts";
import type { SessionManager } from "@gennai/sessions/manager/session-manager";
import { assertId, assertText } from "../wire/turn-input-from-wire.ts";

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

/** Default number of parallel attempts. */
const usuallyParallel = 2;
const maxCheckCharacters = 4_096;
const maxAllowed = 64;

/** Throws `ServiceError` `invalid_argument`. */
function attemptsRequestFromWire(request: StartAttemptsRequest): AttemptsRequest {
  const { clientAttemptsId, userInput, scenario, enableThinking, images, count, parallel, check, models } = request;
  assertId("client_attempts_id", clientAttemptsId);
  assertText("user_input", userInput);
  if (count < 2 || count > mostAttempts) throw invalid(`count is a number from 2 to ${mostAttempts}.`);
  if (parallel < 0 || parallel > mostAttempts) throw invalid(`parallel is a number from 0 to ${mostAttempts}.`);
  if (check.length > maxCheckCharacters) throw invalid(`check has at most ${maxCheckCharacters} characters.`);
  if (models.length > count) throw invalid("models names more than there are attempts.");
  if (request.allow.length > maxAllowed) throw invalid(`allow names at most ${maxAllowed}.`);
  const allow = request.allow.map((text) => {
    const endpoint = parseEndpoint(text);
    if (endpoint !== undefined) return endpoint;
    throw invalid(`${JSON.stringify(text.slice(0, 100))} in allow is no HOST:PORT.`);
  });
  return {
    clientId: clientAttemptsId,
    input: { text: userInput, scenario, enableThinking, images },
    count,
    parallel: Math.min(parallel === 0 ? usuallyParallel : parallel, count),
    check,
    models,
    network: allow.length === 0 ? {} : { allow },
  };
}

function invalid(message: string): ServiceError {
  return new ServiceError("invalid_argument", message);
}
