import { errorMessage } from "@gennai/protocol/error-message";
import { type Connection, usedLogin } from "../connection.ts";
import type { CallOutcome, Decision } from "../gate-journal.ts";
import type { RedactionStream } from "../redaction.ts";
import type {
  CallContext,
  ConnectionJudgement,
  ExecutionContext,
  Found,
  Judgement,
  ToolOutcome,
  Verification,
  WantedConnections,
} from "../tool.ts";
import { type ToolError, ToolFailure, toolErrorFromFinding, toolErrorJson } from "../tool-error.ts";
import { explainedError } from "./confirm/explain-refusal.ts";
import { type AdmittedCall, type Decided, notPermitted, policyInput, type Refusal } from "./decide/decided-call.ts";
import { redactedError } from "./decide/redacted-reason.ts";
import { warn } from "./decide/warn.ts";
import type { GateOptions } from "./gate-options.ts";
import { judgeConnections, standingConnections } from "./judge-connections.ts";
import { judgeFound } from "./judge-found.ts";
import type { RunningCall } from "./running-calls.ts";
import { WatchedCall } from "./standing-check.ts";

type Ran = Omit<CallOutcome, "verification" | "startedAt" | "endedAt">;

/** One call from right before its effect to its end: what stops it, and what it asks the gate meanwhile. */
export class Execution implements Disposable {
  readonly output: ReturnType<typeof liveOutput>;
  readonly #decided: Decided;
  readonly #decision: Decision;
  readonly #context: CallContext;
  readonly #options: GateOptions;
  readonly #watched: WatchedCall;
  readonly #running: RunningCall | undefined;
  readonly #signal: AbortSignal;
  /** The decision on its changes, or on a connection that it did without. */
  #judged: Decision | undefined;
  #noConnection: ToolError | undefined;
  readonly #askedMeanwhile: Decision[] = [];
  readonly #connections: Connection[] = [];

  /** @param decision by which the call was admitted */
  constructor(decided: Decided, decision: Decision, context: CallContext, options: GateOptions) {
    this.#decided = decided;
    this.#decision = decision;
    this.#context = context;
    this.#options = options;
    this.output = liveOutput(context, options);
    this.#watched = new WatchedCall(options.standingCheck, policyInput(decided, context, options));
    this.#running = options.running?.open({ turnId: context.turnId, callId: decided.call.id });
    const stop = this.#running === undefined ? [] : [this.#running.signal];
    this.#signal = AbortSignal.any([context.signal, this.#watched.signal, ...stop]);
  }

  /** Why it does not begin, although it was admitted. */
  get forbidden(): Refusal | undefined {
    const error = this.#forbidden();
    return error && notPermitted(error);
  }

  get context(): ExecutionContext {
    return {
      ...this.#context,
      signal: this.#signal,
      onOutput: this.output.push,
      hasTool: (name) => this.#options.tools.has(name),
      confirmed: this.#decision.confirmation?.answer === "yes",
      judge: (found) => this.#judge(found),
      network: {
        standing: (program) => standingConnections(program, this.#options),
        letThrough: (wanted) => this.#letThrough(wanted),
        reached: (connections) => this.#reached(connections),
      },
    };
  }

  async ended(outcome: ToolOutcome): Promise<Ran> {
    const { redactor } = this.#options;
    const { failure } = outcome;
    const refused = this.#noConnection;
    const ownError = async ({ failureClass, message }: NonNullable<typeof failure>): Promise<ToolError> => ({
      code: refused?.code ?? failureClass,
      message: await redactor.redact([message, ...(refused === undefined ? [] : [refused.message])].join(" ")),
      retryable: false,
    });
    return {
      ...this.#ran(),
      args: this.#decided.args,
      outcome,
      // A provider refuses a conversation with half a character in it, for good; files, servers and cuts can hold such.
      output: (await redactor.redact(outcome.output)).toWellFormed(),
      truncated: outcome.truncated ?? false,
      error: failure && (this.#interruption() ?? (await ownError(failure))),
      // The command succeeded without it, but it was still refused.
      failureClass: refused === undefined ? failure?.failureClass : "permission_denied",
    };
  }

  /** @param thrown by the tool */
  async failed(thrown: unknown): Promise<Ran> {
    const refusal = await this.#failure(thrown);
    const output = toolErrorJson(refusal.error);
    return { ...this.#ran(), args: this.#decided.args, outcome: { output: "" }, output, truncated: false, ...refusal };
  }

  [Symbol.dispose](): void {
    this.#running?.[Symbol.dispose]();
    this.#watched[Symbol.dispose]();
  }

  async #judge(found: Found): Promise<Judgement> {
    const forbidden = this.#forbidden();
    if (forbidden !== undefined) return { type: "drop", error: forbidden };
    const context = { ...this.#context, signal: this.#signal };
    const { judgement, decision } = await judgeFound(found, this.#decided, context, this.#options);
    this.#judged = decision;
    this.#noteAnswer(decision);
    return judgement;
  }

  async #letThrough(wanted: WantedConnections): Promise<ConnectionJudgement> {
    const forbidden = this.#forbidden();
    if (forbidden !== undefined) return { type: "refused", error: forbidden, decision: this.#decision };
    const signal = wanted.until === undefined ? this.#signal : AbortSignal.any([this.#signal, wanted.until]);
    const judgement = await judgeConnections(wanted, this.#decided, { ...this.#context, signal }, this.#options);
    if (judgement.type === "refused" && wanted.stand !== true) {
      this.#judged = judgement.decision;
      this.#noConnection = judgement.error;
    }
    this.#noteAnswer(judgement.decision);
    return judgement;
  }

  /** However the questions after it end, and even if this process does not see their end, a used login is on record. */
  async #reached(connections: readonly Connection[]): Promise<void> {
    const used = connections.filter(usedLogin);
    this.#connections.push(...connections.filter((one) => !usedLogin(one)));
    if (used.length > 0) await this.#options.journal.reached(this.#decision, used, this.#context.turnId);
  }

  #noteAnswer(decision: Decision): void {
    const { confirmation } = decision;
    if (confirmation !== undefined && confirmation.rememberedFrom === undefined) this.#askedMeanwhile.push(decision);
  }

  #ran(): Pick<CallOutcome, "call" | "found" | "askedMeanwhile" | "connections"> {
    const [found, askedMeanwhile, connections] = [this.#judged, this.#askedMeanwhile, this.#connections];
    return { call: this.#decision.call, found, askedMeanwhile, connections };
  }

  /** Why the standing check does not let the call go on. */
  #forbidden(): ToolError | undefined {
    const { refusal } = this.#watched;
    return refusal && toolErrorFromFinding(refusal.finding);
  }

  #interruption(): ToolError | undefined {
    return this.#forbidden() ?? this.#running?.error;
  }

  async #failure(thrown: unknown): Promise<Refusal> {
    const decided = this.#decided;
    const context = this.#context;
    const options = this.#options;
    const interrupted = this.#interruption();
    if (interrupted !== undefined) return { error: interrupted, failureClass: "partial_execution" };
    if (thrown instanceof ToolFailure) {
      const plain = await redactedError(thrown.toToolError(), options.redactor);
      return { error: await explainedError(plain, decided, context, options), failureClass: thrown.failureClass };
    }
    if (context.signal.aborted) return { error: stoppedWhileRunning, failureClass: "partial_execution" };
    await warn(`${decided.call.name} failed unexpectedly`, thrown, context.turnId, options);
    return { error: await redactedError(unexpected(thrown), options.redactor), failureClass: "partial_execution" };
  }
}

/** What the tool finds when it looks at the world again. */
export async function verified(decided: Decided, outcome: ToolOutcome, context: CallContext): Promise<Verification> {
  if (decided.tool.verify === undefined) return { state: "unverified", evidence: "The tool has no verification plan." };
  try {
    return await decided.tool.verify(decided.args, outcome, context);
  } catch (error) {
    return { state: "failed", evidence: `Verification failed: ${errorMessage(error)}` };
  }
}

export function notRun({ decision }: AdmittedCall, { error, failureClass }: Refusal, now: number): CallOutcome {
  return {
    call: decision.call,
    outcome: undefined,
    output: toolErrorJson(error),
    truncated: false,
    error,
    failureClass,
    verification: { state: "unverified", evidence: "The call did not run." },
    startedAt: now,
    endedAt: now,
  };
}

/** The cause by name where the machine or the store tells it; what it says of paths is for the server's log only. */
function unexpected(error: unknown): ToolError {
  const code = error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
  if (error instanceof Error && /^E[A-Z0-9]+$/.test(code)) {
    const [cause = code] = error.message.split(",");
    return { code: "io_error", message: `The server's own files failed: ${cause}.`, hint: tellUser, retryable: false };
  }
  if (error instanceof Error && "isWrongInput" in error) {
    return { code: "io_error", message: error.message, hint: tellUser, retryable: false };
  }
  return { code: "internal", message: "The tool failed unexpectedly.", retryable: false };
}

const tellUser = "Tell the user: the person who runs the server has to look at its disk.";

const stoppedWhileRunning: ToolError = {
  code: "stopped",
  message: "The turn was stopped while this call ran; what it had done until then is not undone.",
  retryable: false,
};

/** Redacts what a running command prints before anyone sees it; pieces stay in order. */
export function liveOutput(
  context: CallContext,
  { journal, redactor }: Pick<GateOptions, "journal" | "redactor">,
): { push(text: string): void; end(): Promise<void> } {
  let stream: RedactionStream | undefined;
  let chain = Promise.resolve();
  const show = (text: string): void => {
    if (text !== "") journal.output(context.shownAs ?? context.callId, context.turnId, text);
  };
  return {
    push: (text) => {
      chain = chain.then(async () => {
        stream ??= redactor.stream();
        show(await stream.push(text));
      });
      // Told by `end`, which is awaited only once the command is over.
      chain.catch(() => undefined);
    },
    end: async () => {
      await chain;
      if (stream !== undefined) show(await stream.end());
    },
  };
}
