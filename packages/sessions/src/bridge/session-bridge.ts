import type { Answer, Confirmer, Question } from "@gennai/governance/confirmation";
import { ToolFailure } from "@gennai/governance/tool-error";
import { editorMethods, isOfKind, requestBody } from "@gennai/protocol/model/editor-messages";
import { editorRequests } from "@gennai/protocol/model/editor-requests";
import type { ClientAnswer } from "./client-answer.ts";
import type { ClientRegistry } from "./client-registry.ts";
import type { EditorBridge, EditorCallOptions } from "./editor-bridge.ts";
import type { PendingRequests, RequestEnd } from "./pending-requests.ts";

/** The editor bridge and the confirmer of one turn. */
export type SessionBridge = EditorBridge & Confirmer;

/** Over the session's client requests. */
export function sessionBridge(options: {
  readonly clients: ClientRegistry;
  readonly requests: PendingRequests;
  readonly turnId: () => string;
  /** False: nobody will ever answer, so nothing waits. */
  readonly interactive: () => boolean;
  /** Milliseconds a question waits for a client that can answer it; the session's setting when left out. */
  readonly waitForClientMs?: number | undefined;
}): SessionBridge {
  const { clients, requests, turnId, interactive, waitForClientMs } = options;
  const methods = editorMethods<EditorCallOptions>(async (kind, request, { signal, onOutput }) => {
    const { answerMs, originalAnswerMs, purpose } = editorRequests[kind];
    const end = await requests.ask(requestBody(kind, request), {
      ability: kind,
      turnId: turnId(),
      signal,
      answerMs: clients.areOriginal ? (originalAnswerMs ?? answerMs) : answerMs,
      onProgress: onOutput,
    });
    if (end.type === "timeout" && clients.areOriginal) clients.saidNothing(kind);
    const { answer, error } = answered(end, (each) => isOfKind(each, kind), purpose);
    if (error !== "") {
      throw new ToolFailure("client_error", `The editor answered: ${error}`, { retryable: true });
    }
    return answer;
  });
  return { ...methods, can: (kind) => clients.can(kind), ask };

  async function ask(question: Question, options: { readonly signal: AbortSignal }): Promise<Answer> {
    if (!interactive()) return { type: "nobody" };
    // The original protocol has no confirmations, so waiting for one would be waiting for nothing.
    if (clients.areOriginal) return { type: "nobody" };
    const end = await requests.ask(
      { kind: "confirmation", question },
      {
        ability: "confirmation",
        turnId: question.turnId,
        signal: options.signal,
        ...(waitForClientMs === undefined ? {} : { waitForClientMs: waitForClientMs }),
      },
    );
    if (end.type !== "answered") return { type: end.type };
    const { clientId, user: who = "user" } = end;
    const answer = answered(end, (each) => each.kind === "confirmation", "answer the question");
    const by = clientId === "" ? who : `${who} at ${clientId}`;
    if (answer.answer === "nobody") return { type: "nobody" };
    if (answer.answer === "unclear") return { type: "unclear", by };
    if (answer.answer === "no") return { type: "no", reason: answer.reason, by };
    // A yes without the digest of the very action, or with a scope that was not offered, is not a clear yes.
    if (answer.actionSha256 !== question.actionSha256) {
      return { type: "no", reason: "The answer did not name the action it was given for.", by };
    }
    if (!question.offeredScopes.includes(answer.scope)) {
      return { type: "no", reason: `The scope "${answer.scope}" was not offered for this action.`, by };
    }
    const { pattern, dropped } = answer;
    if (dropped !== undefined) {
      const known = (question.parts ?? []).map(({ id }) => id);
      if (answer.scope !== "once" || pattern !== undefined || !dropped.every((id) => known.includes(id))) {
        return { type: "no", reason: "The answer named parts that were not offered for it.", by };
      }
      if (known.every((id) => dropped.includes(id))) return { type: "no", reason: "Nothing of it shall be kept.", by };
      return { type: "yes", scope: "once", by, dropped };
    }
    if (pattern === undefined) return { type: "yes", scope: answer.scope, by };
    if (
      (answer.scope !== "turn" && answer.scope !== "session") ||
      question.patterns?.some(({ id }) => id === pattern) !== true
    ) {
      return { type: "no", reason: "The answer named a pattern that was not offered for it.", by };
    }
    return { type: "yes", scope: answer.scope, by, pattern };
  }
}

function answered<Wanted extends ClientAnswer>(
  end: RequestEnd,
  isWanted: (answer: ClientAnswer) => answer is Wanted,
  what: string,
): Wanted {
  if (end.type === "answered" && isWanted(end.answer)) return end.answer;
  throw new ToolFailure("client_timeout", `No attached client could ${what} in time.`, {
    failureClass: "timeout",
    retryable: true,
  });
}
