import { parseEndpoint } from "@gennai/governance/network/endpoint";
import { ServiceError } from "@gennai/machine/service-error";
import type { StartAttemptsRequest } from "@gennai/protocol/gen/gennai/agent/v1/attempt_pb";
import { mostAttempts } from "@gennai/protocol/model/session/attempt";
import type { AttemptsRequest } from "@gennai/sessions/attempts/running-attempts";
import { assertId, assertText } from "./turn-input-from-wire.ts";

/** Default number of parallel attempts. */
const usuallyParallel = 2;
const maxCheckCharacters = 4_096;
const maxAllowed = 64;

/** Throws `ServiceError` `invalid_argument`. */
export function attemptsRequestFromWire(request: StartAttemptsRequest): AttemptsRequest {
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
