import { errorMessage } from "@gennai/protocol/error-message";
import type { FailureClass } from "@gennai/protocol/model/governance/tool-outcome";
import type { CallContext, ToolOutcome, Verification } from "../tool.ts";
import { type ToolError, ToolFailure, toolErrorFromFinding, toolErrorJson } from "../tool-error.ts";
import { explainedError } from "./confirm/explain-refusal.ts";
import { type AdmittedCall, type Decided, stopped } from "./decide/admitted-call.ts";
import { policyInput } from "./decide/decide-call.ts";
import { redactedError } from "./decide/redacted-reason.ts";
import { warn } from "./decide/warn.ts";
import type { CallOutcome, Decision } from "./gate-journal.ts";
import type { GateOptions } from "./gate-options.ts";
import { judgeConnections, standingConnections } from "./judge-connections.ts";
import { judgeFound } from "./judge-found.ts";
import { liveOutput } from "./live-output.ts";
import { WatchedCall } from "./standing-check.ts";

/** Stages 7 and 8: runs an admitted call with the effects that were decided on, and looks at the world again. */
export async function executeCall(
  admitted: AdmittedCall,
  context: CallContext,
  options: GateOptions,
): Promise<CallOutcome> {
  const startedAt = options.now();
  const { decided, refusal } = admitted;
  if (refusal !== undefined || decided === undefined) return notRun(admitted, startedAt);
  if (context.signal.aborted) return notRun({ ...admitted, refusal: stopped }, startedAt);
  using watched = new WatchedCall(options.standingCheck, policyInput(decided, context, options));
  using running = options.running?.open({ turnId: context.turnId, callId: decided.call.id });
  const forbidden = interruption(watched);
  if (forbidden !== undefined) {
    return notRun({ ...admitted, refusal: { error: forbidden, failureClass: "permission_denied" } }, startedAt);
  }

  const live = liveOutput(context, options);
  let judged: Decision | undefined;
  let noConnection: ToolError | undefined;
  const askedMeanwhile: Decision[] = [];
  const noteAnswer = (decision: Decision): void => {
    if (decision.confirmation !== undefined && decision.confirmation.rememberedFrom === undefined) {
      askedMeanwhile.push(decision);
    }
  };
  const signal = AbortSignal.any([context.signal, watched.signal, ...(running === undefined ? [] : [running.signal])]);
  const interrupted = (): ToolError | undefined => interruption(watched) ?? running?.error;
  try {
    const outcome = await decided.tool.execute(decided.args, decided.analysis, {
      ...context,
      signal,
      onOutput: live.push,
      confirmed: admitted.decision.confirmation?.answer === "yes",
      judge: async (found) => {
        const forbiddenNow = interruption(watched);
        if (forbiddenNow !== undefined) return { type: "drop", error: forbiddenNow };
        const { judgement, decision } = await judgeFound(found, decided, { ...context, signal }, options);
        judged = decision;
        noteAnswer(decision);
        return judgement;
      },
      network: {
        standing: (program) => standingConnections(program, options),
        letThrough: async (wanted) => {
          const forbiddenNow = interruption(watched);
          if (forbiddenNow !== undefined) {
            return { type: "refused", error: forbiddenNow, decision: admitted.decision };
          }
          const until = wanted.until === undefined ? signal : AbortSignal.any([signal, wanted.until]);
          const judgement = await judgeConnections(wanted, decided, { ...context, signal: until }, options);
          if (judgement.type === "refused" && wanted.stand !== true) {
            judged = judgement.decision;
            noConnection = judgement.error;
          }
          noteAnswer(judgement.decision);
          return judgement;
        },
      },
    });
    await live.end();
    const verification = await verify(decided, outcome, context);
    const error =
      outcome.failure &&
      (interrupted() ?? {
        code: noConnection?.code ?? outcome.failure.failureClass,
        message: await options.redactor.redact(
          [outcome.failure.message, ...(noConnection === undefined ? [] : [noConnection.message])].join(" "),
        ),
        retryable: false,
      });
    return {
      call: admitted.decision.call,
      args: decided.args,
      outcome,
      // A provider refuses a conversation with half a character in it, for good; files, servers and cuts can hold such.
      output: (await options.redactor.redact(outcome.output)).toWellFormed(),
      truncated: outcome.truncated ?? false,
      error,
      // The command succeeded without it, but it was still refused.
      failureClass: noConnection === undefined ? outcome.failure?.failureClass : "permission_denied",
      verification,
      found: judged,
      askedMeanwhile,
      startedAt,
      endedAt: options.now(),
    };
  } catch (error) {
    await live.end();
    const failure = await failureOf(error, decided, context, interrupted(), options);
    return {
      call: admitted.decision.call,
      args: decided.args,
      outcome: { output: "" },
      output: toolErrorJson(failure.error),
      truncated: false,
      ...failure,
      verification: { state: "unverified", evidence: "The tool did not finish." },
      found: judged,
      askedMeanwhile,
      startedAt,
      endedAt: options.now(),
    };
  }
}

async function failureOf(
  error: unknown,
  decided: Decided,
  context: CallContext,
  interrupted: ToolError | undefined,
  options: GateOptions,
): Promise<{ readonly error: ToolError; readonly failureClass: FailureClass }> {
  if (interrupted !== undefined) return { error: interrupted, failureClass: "partial_execution" };
  if (error instanceof ToolFailure) {
    const plain = await redactedError(error.toToolError(), options.redactor);
    return { error: await explainedError(plain, decided, context, options), failureClass: error.failureClass };
  }
  if (context.signal.aborted) return { error: stoppedWhileRunning, failureClass: "partial_execution" };
  await warn(`${decided.call.name} failed unexpectedly`, error, context.turnId, options);
  return {
    error: await redactedError(unexpected(error), options.redactor),
    failureClass: "partial_execution",
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

function notRun(admitted: AdmittedCall, startedAt: number): CallOutcome {
  const refusal = admitted.refusal ?? stopped;
  return {
    call: admitted.decision.call,
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

/** Why the standing check does not let the call go on. */
function interruption(watched: WatchedCall): ToolError | undefined {
  return watched.refusal && toolErrorFromFinding(watched.refusal.finding);
}

const stoppedWhileRunning: ToolError = {
  code: "stopped",
  message: "The turn was stopped while this call ran; what it had done until then is not taken back.",
  retryable: false,
};

async function verify(decided: Decided, outcome: ToolOutcome, context: CallContext): Promise<Verification> {
  if (decided.tool.verify === undefined) return { state: "unverified", evidence: "The tool has no verification plan." };
  try {
    return await decided.tool.verify(decided.args, outcome, context);
  } catch (error) {
    return { state: "failed", evidence: `Verification failed: ${errorMessage(error)}` };
  }
}
