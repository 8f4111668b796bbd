import type { FileChangeRecord, ProposedChange } from "@gennai/agent/proposal";
import type { ClientRequest } from "@gennai/agent/client-request";
import type { Answer, Confirmer, ConfirmationScope, Question } from "@gennai/governance/confirmation";
import { ToolFailure } from "@gennai/governance/tool-error";
import type { ClientRegistry } from "./client-registry.ts";
import type { EditorBridge, EditorFile, TerminalRun } from "./editor-bridge.ts";
import type { PendingRequests, RequestEnd } from "./pending-requests.ts";

/** What a client answered, in the server's own terms; one kind for each kind of request. */
export type ClientAnswer =
  | { readonly kind: "file-read"; readonly file: EditorFile; readonly error: string }
  | { readonly kind: "apply-changes"; readonly files: readonly FileChangeRecord[]; readonly error: string }
  | { readonly kind: "command"; readonly run: TerminalRun; readonly error: string }
  | {
      readonly kind: "confirmation";
      readonly yes: boolean;
      readonly scope: ConfirmationScope;
      readonly reason: string;
      readonly actionSha256: string;
    };

/** A command in the user's terminal may take long; a client that vanished is noticed by its stream. */
const commandMs = 60 * 60_000;
const fileReadMs = 10_000;

/** The editor bridge and the confirmer of one turn, over the session's client requests. */
export class SessionBridge implements EditorBridge, Confirmer {
  readonly #clients: ClientRegistry;
  readonly #requests: PendingRequests;
  readonly #turnId: () => string;
  readonly #interactive: () => boolean;

  constructor(options: {
    readonly clients: ClientRegistry;
    readonly requests: PendingRequests;
    readonly turnId: () => string;
    /** False: nobody will ever answer, so nothing waits. */
    readonly interactive: () => boolean;
  }) {
    this.#clients = options.clients;
    this.#requests = options.requests;
    this.#turnId = options.turnId;
    this.#interactive = options.interactive;
  }

  can(ability: Parameters<EditorBridge["can"]>[0]): boolean {
    return this.#clients.can(ability);
  }

  async readFile(
    request: { readonly path: string; readonly offset: number; readonly limit: number; readonly reason: string },
    options: { readonly signal: AbortSignal },
  ): Promise<EditorFile> {
    const end = await this.#requests.ask<ClientAnswer & { readonly kind: "file-read" }>(
      { kind: "file-read", ...request },
      { ability: "file-read", turnId: this.#turnId(), signal: options.signal, answerMs: fileReadMs },
    );
    const answer = answered(end, "read the file");
    if (answer.error !== "") throw clientError(answer.error);
    return answer.file;
  }

  async applyChanges(
    request: { readonly changeSetId: string; readonly changes: readonly ProposedChange[] },
    options: { readonly signal: AbortSignal },
  ): Promise<readonly FileChangeRecord[]> {
    const end = await this.#requests.ask<ClientAnswer & { readonly kind: "apply-changes" }>(
      { kind: "apply-changes", ...request },
      { ability: "apply-changes", turnId: this.#turnId(), signal: options.signal },
    );
    const answer = answered(end, "apply the changes");
    if (answer.error !== "") throw clientError(answer.error);
    return answer.files;
  }

  async runCommand(
    request: { readonly command: string; readonly cwd: string; readonly terminalName: string; readonly reveal?: boolean },
    options: { readonly signal: AbortSignal; readonly onOutput: (text: string) => void },
  ): Promise<TerminalRun> {
    const end = await this.#requests.ask<ClientAnswer & { readonly kind: "command" }>(
      { kind: "command", ...request },
      {
        ability: "command",
        turnId: this.#turnId(),
        signal: options.signal,
        answerMs: commandMs,
        onProgress: options.onOutput,
      },
    );
    const answer = answered(end, "run the command");
    if (answer.error !== "") throw clientError(answer.error);
    return answer.run;
  }

  async ask(question: Question, options: { readonly signal: AbortSignal }): Promise<Answer> {
    if (!this.#interactive()) return { type: "nobody" };
    const end = await this.#requests.ask<ClientAnswer & { readonly kind: "confirmation" }>(
      { kind: "confirmation", question },
      { ability: "confirmation", turnId: question.turnId, signal: options.signal },
    );
    if (end.type !== "answered") return { type: end.type };
    const { answer, clientId } = end;
    const by = clientId === "" ? "user" : `user at ${clientId}`;
    if (!answer.yes) return { type: "no", reason: answer.reason, by };
    // A yes without the digest of the very action, or with a scope that was not offered, is not a clear yes.
    if (answer.actionSha256 !== question.actionSha256) {
      return { type: "no", reason: "The answer did not name the action it was given for.", by };
    }
    if (!question.offeredScopes.includes(answer.scope)) {
      return { type: "no", reason: `The scope "${answer.scope}" was not offered for this action.`, by };
    }
    return { type: "yes", scope: answer.scope, by };
  }
}

/** Whether an answer is one to this request: right kind, and about the path that was asked for. */
export function answersRequest(request: ClientRequest, answer: ClientAnswer): boolean {
  if (request.kind !== answer.kind) return false;
  return request.kind !== "file-read" || answer.kind !== "file-read" || answer.file.path === request.path;
}

function answered<Value>(end: RequestEnd<Value>, what: string): Value {
  if (end.type === "answered") return end.answer;
  throw new ToolFailure("client_timeout", `No attached client could ${what} in time.`, {
    failureClass: "timeout",
    retryable: true,
  });
}

function clientError(message: string): ToolFailure {
  return new ToolFailure("client_error", `The editor answered: ${message}`, { retryable: true });
}
