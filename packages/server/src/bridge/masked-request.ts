import type { ClientRequest } from "@gennai/agent/client-request";
import type { WorkspaceOperation } from "@gennai/agent/workspace-operation";
import type { Question } from "@gennai/governance/confirmation";
import type { Redactor } from "@gennai/governance/redaction";

/**
 * A request as the session's log keeps it. Who answers gets the exact one from memory; what is on disk for good never had
 * its secrets. The digest of the action stays that of the exact action.
 */
export async function maskedRequest(request: ClientRequest, redactor: Redactor): Promise<ClientRequest> {
  switch (request.kind) {
    case "confirmation":
      return { ...request, question: await maskedQuestion(request.question, redactor) };
    case "command": {
      const [command, cwd] = await masked([request.command, request.cwd], redactor);
      return { ...request, command: command ?? "", cwd: cwd ?? "" };
    }
    case "workspace":
      return { ...request, operation: await maskedOperation(request.operation, redactor) };
    case "model-call":
      // The conversation is in the log already, once.
      return { ...request, requestJson: "" };
    default:
      return request;
  }
}

async function maskedOperation(operation: WorkspaceOperation, redactor: Redactor): Promise<WorkspaceOperation> {
  switch (operation.type) {
    case "run":
      return { ...operation, command: await redactor.redact(operation.command) };
    case "search":
    case "find":
      return { ...operation, pattern: await redactor.redact(operation.pattern) };
    case "resolve":
      return { ...operation, raw: await redactor.redact(operation.raw) };
    default:
      return operation;
  }
}

async function maskedQuestion(question: Question, redactor: Redactor): Promise<Question> {
  const { computed } = question;
  const mask = (text: string): Promise<string> => redactor.redact(text);
  const [title, intentReflection, actionStatement, impactStatement, modelClaim, actionJson, rememberStatement, reason] =
    await Promise.all([
      mask(question.title),
      mask(question.intentReflection),
      mask(question.actionStatement),
      mask(question.impactStatement),
      mask(question.modelClaim),
      mask(question.actionJson),
      mask(question.rememberStatement),
      mask(computed.reason),
    ]);
  return {
    ...question,
    ...{ title, intentReflection, actionStatement, impactStatement, modelClaim, actionJson, rememberStatement },
    computed: { ...computed, reason, paths: await masked(computed.paths, redactor) },
    ...(question.patterns === undefined
      ? {}
      : {
          patterns: await Promise.all(
            question.patterns.map(async (pattern) => ({
              ...pattern,
              text: await mask(pattern.text),
              matchedBefore: await masked(pattern.matchedBefore, redactor),
              wouldMatch: await masked(pattern.wouldMatch, redactor),
              wouldNotMatch: await masked(pattern.wouldNotMatch, redactor),
            })),
          ),
        }),
  };
}

function masked(texts: readonly string[], redactor: Redactor): Promise<readonly string[]> {
  return Promise.all(texts.map((text) => redactor.redact(text)));
}
