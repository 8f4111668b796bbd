import type { FileChangeRecord, ProposedChange } from "@gennai/agent/proposal";
import type { Answer, Confirmer, Question } from "@gennai/governance/confirmation";
import { ToolFailure } from "@gennai/governance/tool-error";
import type { ClientAnswer } from "./client-answer.ts";
import type { ClientAbility, ClientRegistry } from "./client-registry.ts";
import type { EditorBridge, EditorDiagnostic, EditorFile, EditorSymbol, TerminalRun } from "./editor-bridge.ts";
import type { PendingRequests, RequestEnd } from "./pending-requests.ts";

/** A command in the user's terminal may take long; a client that vanished is noticed by its stream. */
const commandMs = 60 * 60_000;
const fileReadMs = 10_000;
/** All that an original client answers is that it typed the command. */
const dispatchMs = 30_000;
/** Language features of an editor may have to read a project first. */
const languageMs = 20_000;

/** The editor bridge and the confirmer of one turn, over the session's client requests. */
export class SessionBridge implements EditorBridge, Confirmer {
  readonly #clients: ClientRegistry;
  readonly #requests: PendingRequests;
  readonly #turnId: () => string;
  readonly #interactive: () => boolean;
  readonly #waitForClientMs: number | undefined;

  constructor(options: {
    readonly clients: ClientRegistry;
    readonly requests: PendingRequests;
    readonly turnId: () => string;
    /** False: nobody will ever answer, so nothing waits. */
    readonly interactive: () => boolean;
    /** Milliseconds a question waits for a client that can answer it; the session's setting when left out. */
    readonly waitForClientMs?: number | undefined;
  }) {
    this.#clients = options.clients;
    this.#requests = options.requests;
    this.#turnId = options.turnId;
    this.#interactive = options.interactive;
    this.#waitForClientMs = options.waitForClientMs;
  }

  can(ability: Parameters<EditorBridge["can"]>[0]): boolean {
    return this.#clients.can(ability);
  }

  async readFile(
    request: { readonly path: string; readonly offset: number; readonly limit: number; readonly reason: string },
    options: { readonly signal: AbortSignal },
  ): Promise<EditorFile> {
    const end = await this.#requests.ask(
      { kind: "file-read", ...request },
      { ability: "file-read", turnId: this.#turnId(), signal: options.signal, answerMs: fileReadMs },
    );
    this.#notice(end, "file-read");
    const answer = answered(end, "file-read", "read the file");
    if (answer.error !== "") throw clientError(answer.error);
    return answer.file;
  }

  async applyChanges(
    request: { readonly changeSetId: string; readonly changes: readonly ProposedChange[] },
    options: { readonly signal: AbortSignal },
  ): Promise<readonly FileChangeRecord[]> {
    const end = await this.#requests.ask(
      { kind: "apply-changes", ...request },
      { ability: "apply-changes", turnId: this.#turnId(), signal: options.signal },
    );
    const answer = answered(end, "apply-changes", "apply the changes");
    if (answer.error !== "") throw clientError(answer.error);
    return answer.files;
  }

  async runCommand(
    request: {
      readonly command: string;
      readonly cwd: string;
      readonly terminalName: string;
      readonly reveal?: boolean;
    },
    options: { readonly signal: AbortSignal; readonly onOutput: (text: string) => void },
  ): Promise<TerminalRun> {
    const end = await this.#requests.ask(
      { kind: "command", ...request },
      {
        ability: "command",
        turnId: this.#turnId(),
        signal: options.signal,
        answerMs: this.#clients.areOriginal ? dispatchMs : commandMs,
        onProgress: options.onOutput,
      },
    );
    this.#notice(end, "command");
    const answer = answered(end, "command", "run the command");
    if (answer.error !== "") throw clientError(answer.error);
    return answer.run;
  }

  async listDiagnostics(
    paths: readonly string[],
    options: { readonly signal: AbortSignal },
  ): Promise<readonly EditorDiagnostic[]> {
    const end = await this.#requests.ask(
      { kind: "diagnostics", paths },
      { ability: "diagnostics", turnId: this.#turnId(), signal: options.signal, answerMs: languageMs },
    );
    const answer = answered(end, "diagnostics", "list problems");
    if (answer.error !== "") throw clientError(answer.error);
    return answer.diagnostics;
  }

  async findSymbols(
    request: { readonly query: string; readonly path: string },
    options: { readonly signal: AbortSignal },
  ): Promise<{ readonly symbols: readonly EditorSymbol[]; readonly truncated: boolean }> {
    const end = await this.#requests.ask(
      { kind: "find-symbols", ...request },
      { ability: "find-symbols", turnId: this.#turnId(), signal: options.signal, answerMs: languageMs },
    );
    const answer = answered(end, "find-symbols", "find symbols");
    if (answer.error !== "") throw clientError(answer.error);
    return answer;
  }

  #notice(end: RequestEnd, ability: ClientAbility): void {
    if (end.type === "timeout" && this.#clients.areOriginal) this.#clients.saidNothing(ability);
  }

  async ask(question: Question, options: { readonly signal: AbortSignal }): Promise<Answer> {
    if (!this.#interactive()) return { type: "nobody" };
    // The original protocol has no confirmations, so waiting for one would be waiting for nothing.
    if (this.#clients.areOriginal) return { type: "nobody" };
    const end = await this.#requests.ask(
      { kind: "confirmation", question },
      {
        ability: "confirmation",
        turnId: question.turnId,
        signal: options.signal,
        ...(this.#waitForClientMs === undefined ? {} : { waitForClientMs: this.#waitForClientMs }),
      },
    );
    if (end.type !== "answered") return { type: end.type };
    const { clientId, user: who = "user" } = end;
    const answer = answered(end, "confirmation", "answer the question");
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
    const { pattern } = answer;
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

function answered<Kind extends ClientAnswer["kind"]>(
  end: RequestEnd,
  kind: Kind,
  what: string,
): Extract<ClientAnswer, { readonly kind: Kind }> {
  if (end.type === "answered" && isOfKind(end.answer, kind)) return end.answer;
  throw new ToolFailure("client_timeout", `No attached client could ${what} in time.`, {
    failureClass: "timeout",
    retryable: true,
  });
}

function isOfKind<Kind extends ClientAnswer["kind"]>(
  answer: ClientAnswer,
  kind: Kind,
): answer is Extract<ClientAnswer, { readonly kind: Kind }> {
  return answer.kind === kind;
}

function clientError(message: string): ToolFailure {
  return new ToolFailure("client_error", `The editor answered: ${message}`, { retryable: true });
}
