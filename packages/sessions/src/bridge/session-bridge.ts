import type { ClientRequest } from "@gennai/agent/events/client-request";
import { ModelError } from "@gennai/agent/model";
import type { Answer, Confirmer, Question } from "@gennai/governance/confirmation";
import { ToolFailure } from "@gennai/governance/tool-error";
import type { AskEditor } from "@gennai/models/editor-model";
import {
  type EditorMethods,
  type EditorRequestKind,
  editorMethods,
  isOfKind,
  requestBody,
} from "@gennai/protocol/model/session/editor-messages";
import { editorRequests } from "@gennai/protocol/model/session/editor-requests";
import type { SessionSettings } from "@gennai/protocol/model/session/session-settings";
import type { UserAnswer, UserQuestion } from "@gennai/protocol/model/session/user-question";
import { type ClientAnswer, judgedAnswer } from "./client-answer.ts";
import type { ClientRegistry } from "./client-registry.ts";
import type { Elsewhere, OpenQuestion } from "./elsewhere.ts";
import type { PendingRequests, RequestEnd } from "./pending-requests.ts";
import { type Approvals, answerOfBoth, type FirstYes } from "./second-person.ts";

/** The editor bridge and the confirmer of one turn. */
export type SessionBridge = EditorBridge & Confirmer & UserAsker;

/** The result of questions to a user. `by`: who answered. */
export type AskedUser =
  | { readonly end: "answered"; readonly answers: readonly UserAnswer[]; readonly by: string }
  | { readonly end: "cancelled"; readonly by: string }
  | { readonly end: "nobody" | "timeout" };

/** Puts the model's questions to a user. The answers permit nothing. */
export interface UserAsker {
  /** Rejects if the signal aborts, and with `ToolFailure` if the answering client failed. */
  askUser(questions: readonly UserQuestion[], options: { readonly signal: AbortSignal }): Promise<AskedUser>;
}

/** Creates the bridge over the session's client requests. */
export function sessionBridge(options: {
  readonly clients: ClientRegistry;
  readonly requests: PendingRequests;
  readonly turnId: () => string;
  /** Not interactive: no user was there at the start, so nothing waits for one; a user who attaches later is asked. */
  readonly settings: () => Pick<SessionSettings, "interactive" | "questionSeconds">;
  /** Maximum milliseconds an attached user has to answer, whatever the settings say. */
  readonly answerMs?: number | undefined;
  /** Milliseconds a question waits for a client that can answer it; default: the session's setting. */
  readonly waitForClientMs?: number | undefined;
  /** Is told of each question that waits for a person. */
  readonly onQuestion?: (kind: "permission_prompt" | "elicitation_dialog", message: string) => void;
  /** Asks people who sit at no client as well. @property workspace name of its directory */
  readonly elsewhere?: (Pick<OpenQuestion, "workspace" | "tell"> & { readonly people: Elsewhere }) | undefined;
  /** Asks another person where two have to agree; undefined: nobody can be. */
  readonly second?:
    | (Pick<FirstYes, "user" | "workspace"> & Pick<OpenQuestion, "tell"> & { readonly people: Approvals })
    | undefined;
}): SessionBridge {
  const { clients, requests, turnId, settings, elsewhere } = options;
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
    // The answer grants no permission: without a user, the model continues at once.
    if (!clients.offers("user-question")) return { end: "nobody" };
    options.onQuestion?.("elicitation_dialog", questions[0]?.question ?? "");
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
    // A client that shows the model's questions has a user.
    if (!interactive && !clients.offers("user-question")) return { type: "nobody" };
    // The original protocol has no confirmations: no answer would ever come.
    if (clients.areOriginal) return { type: "nobody" };
    options.onQuestion?.("permission_prompt", question.maskedStatement ?? question.actionStatement);
    const patience = await elsewhere?.people.waits(question, { attended: clients.offers("confirmation") });
    const waitForClientMs = patience ?? options.waitForClientMs;
    const end = await requests.ask(
      { kind: "confirmation", question },
      {
        ability: "confirmation",
        turnId: question.turnId,
        signal,
        // People elsewhere are told late, and need as long as they were promised.
        answerMs: Math.max(
          patience ?? 0,
          Math.min(
            questionSeconds * 1000 || Number.POSITIVE_INFINITY,
            question.answerMs ?? Number.POSITIVE_INFINITY,
            options.answerMs ?? Number.POSITIVE_INFINITY,
          ),
        ),
        ...(waitForClientMs === undefined ? {} : { waitForClientMs }),
        ...(patience === undefined ? {} : { onOpen: (logged) => askElsewhere(question, logged) }),
      },
    );
    if (end.type !== "answered") return { type: end.type };
    const answer = answered(end, (each) => each.kind === "confirmation", "answer the question");
    const judged = judgedAnswer(question, answer, whoAnswered(end));
    return judged.type === "yes" && question.secondPerson ? askSecond(question, judged, signal) : judged;
  }

  async function askSecond(question: Question, yes: Answer & { type: "yes" }, signal: AbortSignal): Promise<Answer> {
    if (options.second === undefined) return { type: "nobody" };
    const { people, tell, ...session } = options.second;
    tell("A second person has ten minutes to agree as well.");
    const dropped = yes.dropped ?? [];
    const without = (question.parts ?? []).flatMap(({ id, name }) => (dropped.includes(id) ? [name] : []));
    const said = await people.ask({ question, without, ...session }, { signal });
    if (said.type === "timeout") tell("No second person answered in time.");
    else tell(said.type === "yes" ? `${said.by} agreed as well.` : `${said.by} did not agree.`);
    return answerOfBoth(yes, said);
  }

  function askElsewhere(question: Question, logged: ClientRequest): Disposable | undefined {
    if (elsewhere === undefined || logged.kind !== "confirmation") return undefined;
    const { people, workspace, tell } = elsewhere;
    const { requestId } = logged;
    return people.ask({
      question,
      requestId,
      workspace,
      tell,
      maskedStatement: logged.question.actionStatement,
      attended: clients.offers("confirmation"),
      answer: (said, { person, way }) => {
        const { actionSha256 } = question;
        return requests.answer(requestId, { kind: "confirmation", ...said, actionSha256, scope: "once" }, way, person);
      },
    });
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

/**
 * What a turn can ask of the session's clients: a method for each of `editorRequests`, except the model and the user, which
 * have their own ports. Each request is durable before it is sent and answered once.
 *
 * Methods throw `ToolFailure`: `client_error` with the editor's answer, `client_timeout`.
 */
export interface EditorBridge extends Omit<EditorMethods<EditorCallOptions>, "callModel" | "askUser"> {
  /** True if an attached client said it can answer this. */
  can(kind: EditorRequestKind): boolean;
}

interface EditorCallOptions {
  readonly signal: AbortSignal;
  /** Output of a command as it comes. */
  readonly onOutput?: (text: string) => void;
}

/** Asks the model of an attached editor, for one turn. */
export function askEditorModel(requests: PendingRequests, turnId: string): AskEditor {
  const { answerMs } = editorRequests["model-call"];
  return async (requestJson, { signal }) => {
    const end = await requests.ask(
      { kind: "model-call", requestJson },
      { ability: "model-call", turnId, signal, answerMs },
    );
    if (end.type !== "answered" || end.answer.kind !== "model-call") {
      throw new ModelError("unreachable", "No attached editor answered for its model.", {
        hint: "Open the session in VS Code, or choose another backend.",
        retryable: true,
      });
    }
    const { answer: eventsJson, error } = end.answer;
    if (error !== "") throw new ModelError("unreachable", `The editor's model gave no answer: ${error}`);
    return eventsJson;
  };
}
