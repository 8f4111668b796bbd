import type { Answer, Confirmer, Question } from "@gennai/governance/confirmation";
import { ToolFailure } from "@gennai/governance/tool-error";
import { editorMethods, isOfKind, requestBody } from "@gennai/protocol/model/editor/editor-messages";
import { editorRequests } from "@gennai/protocol/model/editor/editor-requests";
import type { UserAnswer, UserQuestion } from "@gennai/protocol/model/governance/user-question";
import type { SessionSettings } from "@gennai/protocol/model/session/session-settings";
import type { ClientAnswer } from "./client-answer.ts";
import type { ClientRegistry } from "./client-registry.ts";
import type { EditorBridge, EditorCallOptions } from "./editor-bridge.ts";
import { judgedAnswer } from "./judged-answer.ts";
import type { PendingRequests, RequestEnd } from "./pending-requests.ts";

/** The editor bridge and the confirmer of one turn. */
export type SessionBridge = EditorBridge & Confirmer & UserAsker;

/** What happened to questions to a person. `by`: who answered. */
export type AskedUser =
  | { readonly end: "answered"; readonly answers: readonly UserAnswer[]; readonly by: string }
  | { readonly end: "cancelled"; readonly by: string }
  | { readonly end: "nobody" | "timeout" };

/** Puts questions of the model to a person. What is answered permits nothing. */
export interface UserAsker {
  /** Rejects when the signal aborts, and with `ToolFailure` when the client that answered has failed. */
  askUser(questions: readonly UserQuestion[], options: { readonly signal: AbortSignal }): Promise<AskedUser>;
}

/** Over the session's client requests. */
export function sessionBridge(options: {
  readonly clients: ClientRegistry;
  readonly requests: PendingRequests;
  readonly turnId: () => string;
  /** Not interactive: it was started by nobody who could answer, so nothing waits for one; who comes to it later is asked. */
  readonly settings: () => Pick<SessionSettings, "interactive" | "questionSeconds">;
  /** Milliseconds an attached person has at most for an answer, whatever the settings say. */
  readonly answerMs?: number | undefined;
  /** Milliseconds a question waits for a client that can answer it; the session's setting when left out. */
  readonly waitForClientMs?: number | undefined;
}): SessionBridge {
  const { clients, requests, turnId, settings, waitForClientMs } = options;
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
  return { ...methods, can: (kind) => clients.can(kind), ask, askUser };

  async function askUser(
    questions: readonly UserQuestion[],
    { signal }: { readonly signal: AbortSignal },
  ): Promise<AskedUser> {
    const { questionSeconds } = settings();
    // Nothing depends on an answer as a permission does: without a person the model goes on at once.
    if (!clients.offers("user-question")) return { end: "nobody" };
    const end = await requests.ask(requestBody("user-question", { questions }), {
      ability: "user-question",
      turnId: turnId(),
      signal,
      answerMs: Math.min(
        questionSeconds * 1000 || Number.POSITIVE_INFINITY,
        options.answerMs ?? Number.POSITIVE_INFINITY,
      ),
    });
    if (end.type !== "answered") return { end: end.type };
    const { answer: reply, error } = answered(end, (each) => isOfKind(each, "user-question"), "ask its user");
    if (error !== "") throw new ToolFailure("client_error", `The editor answered: ${error}`, { retryable: true });
    if (reply.end === "nobody") return { end: "nobody" };
    return { ...reply, by: whoAnswered(end) };
  }

  async function ask(question: Question, { signal }: { readonly signal: AbortSignal }): Promise<Answer> {
    const { interactive, questionSeconds } = settings();
    // Whoever puts the model's questions to a person has one.
    if (!interactive && !clients.offers("user-question")) return { type: "nobody" };
    // The original protocol has no confirmations, so waiting for one would be waiting for nothing.
    if (clients.areOriginal) return { type: "nobody" };
    const end = await requests.ask(
      { kind: "confirmation", question },
      {
        ability: "confirmation",
        turnId: question.turnId,
        signal,
        answerMs: Math.min(
          questionSeconds * 1000 || Number.POSITIVE_INFINITY,
          question.answerMs ?? Number.POSITIVE_INFINITY,
          options.answerMs ?? Number.POSITIVE_INFINITY,
        ),
        ...(waitForClientMs === undefined ? {} : { waitForClientMs: waitForClientMs }),
      },
    );
    if (end.type !== "answered") return { type: end.type };
    const answer = answered(end, (each) => each.kind === "confirmation", "answer the question");
    return judgedAnswer(question, answer, whoAnswered(end));
  }
}

function whoAnswered({ clientId, user = "user" }: Extract<RequestEnd, { readonly type: "answered" }>): string {
  return clientId === "" ? user : `${user} at ${clientId}`;
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
