import type { Answer, Confirmer } from "../confirmation.ts";
import type { Policy } from "../policy.ts";
import type { RedactionStream, Redactor } from "../redaction.ts";
import type { CallContext, Tool, ToolOutcome, Verification } from "../tool.ts";
import { type FailureClass, type ToolError, ToolFailure, toolErrorFromFinding, toolErrorJson } from "../tool-error.ts";
import { buildQuestion, type QuestionContext } from "./build-question.ts";
import { type DecidedCall, decideCall, findingOf, policyInput } from "./decide-call.ts";
import type { CallOutcome, Decision, GateJournal, ToolCall } from "./gate-journal.ts";
import { redactedError } from "./redacted-reason.ts";
import type { RememberedAnswers } from "./remembered-answers.ts";
import { type StandingCheck, WatchedCall } from "./standing-check.ts";

export interface GateOptions {
  readonly sessionId: string;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly policies: readonly Policy[];
  readonly confirmer: Confirmer;
  readonly journal: GateJournal;
  readonly redactor: Redactor;
  readonly remembered: RememberedAnswers;
  /** SHA-256 of the rules in force, shown with every question. */
  readonly policySha256: string;
  /** The intent the session works under, shown with every question. */
  readonly intent?: () => { readonly id: string; readonly name: string } | undefined;
  /** How the server's own commands run, shown with questions about them. */
  readonly isolation?: "sandboxed" | "unsandboxed";
  /** Milliseconds a policy may take; then it counts as failed. */
  readonly policyTimeoutMs: number;
  /** Asked once more right before each effect, and again while it runs; e.g. the emergency controls. */
  readonly standingCheck?: StandingCheck;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** What a call became, for the model. */
export interface CallResult {
  readonly call: ToolCall;
  /** Redacted. JSON of a `ToolError` when the call was refused or failed without output. */
  readonly output: string;
  readonly error: ToolError | undefined;
  /** True when the call never ran. */
  readonly refused: boolean;
  readonly failureClass: FailureClass | undefined;
  readonly exitCode: number | undefined;
  readonly verification: Verification;
  readonly facts: readonly unknown[];
}

/** Tools that run only through the gate. There is no other way to make one, and the turn loop accepts nothing else. */
export type GovernedTools = GovernedToolSet;

/** Puts tools behind the gate. */
export function governTools(options: GateOptions): GovernedTools {
  return new GovernedToolSet(options);
}

type Decided = DecidedCall & { readonly type: "decided" };
/** A call on its way through the stages; `refusal` is set once it is clear that it does not run. */
interface Passage {
  readonly decision: Decision;
  readonly decided: Decided | undefined;
  readonly refusal: { readonly error: ToolError; readonly failureClass: FailureClass } | undefined;
}

class GovernedToolSet {
  readonly #options: GateOptions;

  constructor(options: GateOptions) {
    this.#options = options;
  }

  /** For the model's tool list. */
  get tools(): Iterable<Pick<Tool, "name" | "description" | "parameters">> {
    return this.#options.tools.values();
  }

  /** Stages 1 to 4 alone: what would be decided, with nothing asked, recorded or run. */
  decide(call: ToolCall, context: { readonly turnId: string; readonly signal: AbortSignal }): Promise<DecidedCall> {
    return decideCall(call, { ...context, callId: call.id }, this.#options);
  }

  /**
   * Runs the calls of one model answer and returns their results in the same order. Neighbouring reads run together,
   * everything else one by one. Rejects only when the records cannot be written: then nothing more has run.
   */
  async run(
    calls: readonly ToolCall[],
    context: { readonly turnId: string; readonly signal: AbortSignal },
  ): Promise<readonly CallResult[]> {
    const results: CallResult[] = [];
    for (const batch of batches(calls, (name) => this.#options.tools.get(name)?.access === "read")) {
      results.push(...(await this.#runBatch(batch, context)));
    }
    return results;
  }

  async #runBatch(
    calls: readonly ToolCall[],
    context: { readonly turnId: string; readonly signal: AbortSignal },
  ): Promise<readonly CallResult[]> {
    const { journal } = this.#options;
    const passages = await Promise.all(calls.map((call) => this.#admit(call, { ...context, callId: call.id })));
    const admitted = passages.filter((passage) => passage.refusal === undefined);

    // 6 record: if this rejects, nothing runs.
    if (admitted.length > 0) {
      await journal.begin(
        admitted.map((passage) => passage.decision),
        context.turnId,
      );
    }

    // 7 execute, 8 verify
    const outcomes = await Promise.all(
      passages.map(async (passage) => {
        const result = await this.#execute(passage, { ...context, callId: passage.decision.call.id });
        return { decision: finalDecision(passage, result), result };
      }),
    );

    // 9 outcome
    await journal.end(outcomes, context.turnId);
    return outcomes.map(({ result }) => ({
      call: result.call,
      output: result.output,
      error: result.error,
      refused: result.outcome === undefined,
      failureClass: result.failureClass,
      exitCode: result.outcome?.exitCode,
      verification: result.verification,
      facts: result.outcome?.facts ?? [],
    }));
  }

  /** Stages 1 to 5: decides, asks if it must, and after a yes decides again, because the world moved meanwhile. */
  async #admit(call: ToolCall, context: CallContext): Promise<Passage> {
    const { journal, remembered, confirmer } = this.#options;
    if (context.signal.aborted) return refused(call, undefined, stopped);
    let decided: DecidedCall;
    try {
      decided = await decideCall(call, context, this.#options);
      this.#report(decided, context.turnId);
      if (decided.type === "invalid" || decided.verdict.type === "deny") return settled(decided);
      if (decided.verdict.type === "allow") return settled(decided);

      const question = buildQuestion(decided, decided.verdict.finding, this.#questionContext(context.turnId));
      const known = remembered.find(question);
      const answer = known ?? (await confirmer.ask(question, { signal: context.signal }));
      if (answer.type !== "yes") return refusedByAnswer(decided, answer);
      if (known === undefined) remembered.remember(question, answer.scope);

      const again = await decideCall(call, context, this.#options);
      if (again.type === "invalid" || again.verdict.type === "deny") {
        this.#report(again, context.turnId);
        return settled(again);
      }
      // A yes holds for the action it was given for. If the same call now means something else, nobody agreed to that.
      const changed = buildQuestion(again, decided.verdict.finding, this.#questionContext(context.turnId));
      if (changed.actionSha256 !== question.actionSha256 || again.risk !== decided.risk) {
        return refused(call, again, {
          error: {
            code: "changed_after_approval",
            message: "What this call would do changed while it was being approved, so it did not run.",
            rule: "gate/confirm",
            hint: "Call it again.",
            retryable: true,
          },
          failureClass: "permission_denied",
        });
      }
      return { decision: decisionOf(again, answer), decided: again, refusal: undefined };
    } catch (error) {
      if (context.signal.aborted) return refused(call, undefined, stopped);
      journal.warn(`The gate could not decide about ${call.name}: ${messageOf(error)}`, context.turnId);
      return refused(call, undefined, {
        error: {
          code: "gate_failed",
          message: "The gate could not decide about this call, so it did not run.",
          rule: "gate/failure",
          retryable: false,
        },
        failureClass: "permission_denied",
      });
    }
  }

  #questionContext(turnId: string): QuestionContext {
    const { policySha256, intent, isolation } = this.#options;
    return { turnId, policySha256, intent: intent?.(), isolation };
  }

  async #execute(passage: Passage, context: CallContext): Promise<CallOutcome> {
    const startedAt = this.#options.now();
    const { decided, refusal } = passage;
    if (refusal !== undefined || decided === undefined) return this.#notRun(passage, startedAt);
    if (context.signal.aborted) return this.#notRun({ ...passage, refusal: stopped }, startedAt);
    using watched = new WatchedCall(this.#options.standingCheck, policyInput(decided, context, this.#options));
    const forbidden = interruption(watched);
    if (forbidden !== undefined) {
      return this.#notRun({ ...passage, refusal: { error: forbidden, failureClass: "permission_denied" } }, startedAt);
    }

    const live = this.#liveOutput(context);
    try {
      const outcome = await decided.tool.execute(decided.args, decided.analysis, {
        ...context,
        signal: AbortSignal.any([context.signal, watched.signal]),
        onOutput: live.push,
      });
      await live.end();
      const verification = await verify(decided, outcome, context);
      const error =
        outcome.failure &&
        (interruption(watched) ?? {
          code: outcome.failure.failureClass,
          message: await this.#options.redactor.redact(outcome.failure.message),
          retryable: false,
        });
      return {
        call: passage.decision.call,
        outcome,
        output: await this.#options.redactor.redact(outcome.output),
        truncated: outcome.truncated ?? false,
        error,
        failureClass: outcome.failure?.failureClass,
        verification,
        startedAt,
        endedAt: this.#options.now(),
      };
    } catch (error) {
      await live.end();
      return await this.#failed(passage, error, startedAt, context, interruption(watched));
    }
  }

  async #failed(
    passage: Passage,
    error: unknown,
    startedAt: number,
    context: CallContext,
    interrupted: ToolError | undefined,
  ): Promise<CallOutcome> {
    const { redactor, journal, now } = this.#options;
    let toolError: ToolError;
    let failureClass: FailureClass = "command_error";
    if (interrupted !== undefined) {
      toolError = interrupted;
      failureClass = "partial_execution";
    } else if (error instanceof ToolFailure) {
      toolError = await redactedError(error.toToolError(), redactor);
      failureClass = error.failureClass;
    } else if (context.signal.aborted) {
      toolError = stoppedWhileRunning;
      failureClass = "partial_execution";
    } else {
      journal.warn(`${passage.decision.call.name} failed unexpectedly: ${messageOf(error)}`, context.turnId);
      toolError = { code: "internal", message: "The tool failed unexpectedly.", retryable: false };
      failureClass = "partial_execution";
    }
    return {
      call: passage.decision.call,
      outcome: { output: "" },
      output: toolErrorJson(toolError),
      truncated: false,
      error: toolError,
      failureClass,
      verification: { state: "unverified", evidence: "The tool did not finish." },
      startedAt,
      endedAt: now(),
    };
  }

  #notRun(passage: Passage, startedAt: number): CallOutcome {
    const refusal = passage.refusal ?? stopped;
    return {
      call: passage.decision.call,
      outcome: undefined,
      output: toolErrorJson(refusal.error),
      truncated: false,
      error: refusal.error,
      failureClass: refusal.failureClass,
      verification: { state: "unverified", evidence: "The call did not run." },
      startedAt,
      endedAt: startedAt,
    };
  }

  #report(decided: DecidedCall, turnId: string): void {
    const { journal } = this.#options;
    if (decided.type === "decided") for (const warning of decided.warnings) journal.warn(warning, turnId);
    journal.decided(decisionOf(decided, undefined), turnId);
  }

  /** Redacts what a running command prints before anyone sees it; pieces stay in order. */
  #liveOutput(context: CallContext): { push(text: string): void; end(): Promise<void> } {
    const { journal, redactor } = this.#options;
    let stream: RedactionStream | undefined;
    let chain = Promise.resolve();
    const show = (text: string): void => {
      if (text !== "") journal.output(context.callId, context.turnId, text);
    };
    return {
      push: (text) => {
        chain = chain.then(async () => {
          stream ??= redactor.stream();
          show(await stream.push(text));
        });
      },
      end: async () => {
        await chain;
        if (stream !== undefined) show(await stream.end());
      },
    };
  }
}

/** A call that was admitted and did not run after all was refused, whatever had been decided. */
function finalDecision({ decision, refusal }: Passage, { outcome, error }: CallOutcome): Decision {
  if (refusal !== undefined || outcome !== undefined || error === undefined) return decision;
  return { ...decision, verdict: "deny", rule: error.rule ?? "gate/stopped", reason: error.message };
}

/** Why the standing check does not let the call go on. */
function interruption(watched: WatchedCall): ToolError | undefined {
  return watched.refusal && toolErrorFromFinding(watched.refusal.finding);
}

const stopped = {
  error: { code: "stopped", message: "The turn was stopped, so this call did not run.", retryable: false },
  failureClass: "permission_denied",
} as const;

const stoppedWhileRunning: ToolError = {
  code: "stopped",
  message: "The turn was stopped while this call ran; what it had done by then is not taken back.",
  retryable: false,
};

function settled(decided: DecidedCall): Passage {
  if (decided.type === "invalid") {
    return {
      decision: decisionOf(decided, undefined),
      decided: undefined,
      refusal: { error: decided.error, failureClass: decided.failureClass },
    };
  }
  const error = decided.verdict.type === "deny" ? findingOf(decided.verdict) : undefined;
  return {
    decision: decisionOf(decided, undefined),
    decided,
    refusal: error === undefined ? undefined : { error, failureClass: "permission_denied" },
  };
}

function refused(
  call: ToolCall,
  decided: DecidedCall | undefined,
  refusal: { readonly error: ToolError; readonly failureClass: FailureClass },
): Passage {
  const decision: Decision =
    decided === undefined
      ? {
          call,
          verdict: "deny",
          risk: "high",
          rule: refusal.error.rule ?? "gate/stopped",
          reason: refusal.error.message,
          effects: [],
          input: "",
        }
      : { ...decisionOf(decided, undefined), verdict: "deny", reason: refusal.error.message };
  return { decision, decided: undefined, refusal };
}

function refusedByAnswer(decided: Decided, answer: Exclude<Answer, { readonly type: "yes" }>): Passage {
  const rule = decided.verdict.type === "allow" ? "gate/confirm" : decided.verdict.finding.rule;
  const message =
    answer.type === "no"
      ? `User denied execution${answer.reason === "" ? "" : `: ${answer.reason}`}`
      : answer.type === "timeout"
        ? "Nobody answered the question in time, so the call did not run."
        : "This call needs a person's yes and nobody can be asked, so it did not run.";
  const code =
    answer.type === "no" ? "user_denied" : answer.type === "timeout" ? "confirmation_timeout" : "nobody_to_ask";
  return {
    decision: { ...decisionOf(decided, answer), verdict: "deny" },
    decided: undefined,
    refusal: {
      error: {
        code,
        message,
        rule,
        hint: "Do not repeat this call; choose another way or ask the user.",
        retryable: false,
      },
      failureClass: "permission_denied",
    },
  };
}

function decisionOf(decided: DecidedCall, answer: Answer | undefined): Decision {
  if (decided.type === "invalid") {
    return {
      call: decided.call,
      verdict: "deny",
      risk: "low",
      rule: decided.error.rule ?? `tool/${decided.error.code}`,
      reason: decided.error.message,
      effects: decided.effects,
      input: decided.input,
    };
  }
  const finding = decided.verdict.type === "allow" ? undefined : decided.verdict.finding;
  return {
    call: decided.call,
    verdict: decided.verdict.type,
    risk: decided.risk,
    rule: finding?.rule ?? "",
    reason: finding?.reason ?? "",
    effects: decided.analysis.effects,
    input: decided.input,
    ...(answer === undefined
      ? {}
      : {
          confirmation: {
            answer: answer.type,
            by: answer.type === "yes" || answer.type === "no" ? answer.by : "",
            ...(answer.type === "yes" ? { scope: answer.scope } : {}),
          },
        }),
  };
}

async function verify(decided: Decided, outcome: ToolOutcome, context: CallContext): Promise<Verification> {
  if (decided.tool.verify === undefined) return { state: "unverified", evidence: "The tool has no verification plan." };
  try {
    return await decided.tool.verify(decided.args, outcome, context);
  } catch (error) {
    return { state: "failed", evidence: `Verification failed: ${messageOf(error)}` };
  }
}

/** Neighbouring calls of tools that only read form a batch; every other call is one of its own. */
function* batches(calls: readonly ToolCall[], isRead: (name: string) => boolean): Iterable<readonly ToolCall[]> {
  let reads: ToolCall[] = [];
  for (const call of calls) {
    if (isRead(call.name)) {
      reads.push(call);
      continue;
    }
    if (reads.length > 0) yield reads;
    reads = [];
    yield [call];
  }
  if (reads.length > 0) yield reads;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
