import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { parseEndpoint } from "@gennai/governance/network/endpoint";
import type { LearningRedactor } from "@gennai/machine/redaction/redactor";
import { ServiceError } from "@gennai/machine/service-error";

import {
  AttemptOutcome,
  type AttemptSchema,
  type AttemptSetSchema,
  type StartAttemptsRequest,
} from "@gennai/protocol/gen/gennai/agent/v1/attempt_pb";
import {
  attemptCheckWords,
  attemptOutcomeWords,
  attemptPhaseWords,
} from "@gennai/protocol/model/session/attempt-words";
import { type Attempt, type Attempts, haveEnded, maxAttempts } from "@gennai/sessions/attempts/attempt";
import { suggested } from "@gennai/sessions/attempts/best-first";
import type { AttemptsRequest } from "@gennai/sessions/attempts/running-attempts";
import { assertId, assertText } from "./incoming/turn-input-from-wire.ts";

/** Default number of parallel attempts. */
const usuallyParallel = 2;
const maxCheckCharacters = 4_096;
const maxAllowed = 64;

/** Throws `ServiceError` `invalid_argument`. */
export function attemptsRequestFromWire(request: StartAttemptsRequest): AttemptsRequest {
  const { clientAttemptsId, userInput, scenario, enableThinking, images, count, parallel, check, models } = request;
  assertId("client_attempts_id", clientAttemptsId);
  assertText("user_input", userInput);
  if (count < 2 || count > maxAttempts) throw invalid(`count is a number from 2 to ${maxAttempts}.`);
  if (parallel < 0 || parallel > maxAttempts) throw invalid(`parallel is a number from 0 to ${maxAttempts}.`);
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

/** For clients: without what is secret. */
export async function attemptsToWire(
  all: Attempts,
  redactor: Pick<LearningRedactor, "redact">,
): Promise<MessageInitShape<typeof AttemptSetSchema>> {
  return {
    attemptsId: all.id,
    prompt: await redactor.redact(all.prompt),
    check: await redactor.redact(all.check),
    startedAt: timestampFromMs(all.at),
    startedIn: all.session,
    running: !haveEnded(all),
    attempts: await Promise.all(all.attempts.map((attempt) => attemptToWire(attempt, redactor))),
    suggested: suggested(all) ?? 0,
  };
}

async function attemptToWire(
  attempt: Attempt,
  redactor: Pick<LearningRedactor, "redact">,
): Promise<MessageInitShape<typeof AttemptSchema>> {
  const { number, phase, sessionId, outcome, check, addedLines, removedLines, tokens, cost, changes } = attempt;
  return {
    number,
    phase: attemptPhaseWords.toMessage(phase),
    sessionId,
    outcome: phase === "ended" ? attemptOutcomeWords.toMessage(outcome) : AttemptOutcome.UNSPECIFIED,
    check: attemptCheckWords.toMessage(check),
    checkOutput: await redactor.redact(attempt.checkOutput),
    text: await redactor.redact(attempt.text),
    addedLines,
    removedLines,
    tokens: BigInt(tokens),
    ...(cost === undefined ? {} : { cost: cost.amount, currency: cost.currency }),
    changes: changes.map(({ path, before, after }) => ({
      path,
      beforeSha256: before?.sha256 ?? "",
      afterSha256: after?.sha256 ?? "",
      link: before?.kind === "link" || after?.kind === "link",
    })),
  };
}

function invalid(message: string): ServiceError {
  return new ServiceError("invalid_argument", message);
}
