import { canonicalJson } from "@gennai/protocol/canonical-json";
import { highestRisk, type Risk } from "@gennai/protocol/model/governance/risk";
import type { CallOutcome, ToolCall } from "../gate-journal.ts";
import { singleWriter } from "../policies/files/single-writer.ts";
import { computeRisk } from "../policies/risk.ts";
import type { Analysis, CallContext } from "../tool.ts";
import { ToolFailure } from "../tool-error.ts";
import { deny, strictest } from "../verdict.ts";
import { answerTo, askAbout, factsOf, questionContext, withPattern } from "./confirm/ask-person.ts";
import { buildQuestion } from "./confirm/build-question.ts";
import { explainedRefusal } from "./confirm/explain-refusal.ts";
import { toolsAlone } from "./decide/call-runner.ts";
import {
  type AdmittedCall,
  changedAfterApproval,
  type Decided,
  type DecidedCall,
  type DecideOptions,
  decisionOf,
  finalDecision,
  gateFailed,
  policyInput,
  refused,
  refusedByAnswer,
  settled,
  stopped,
} from "./decide/decided-call.ts";
import { unobservedGate } from "./decide/gate-observer.ts";
import { badArguments, invalidCall, parseArguments, unknownTool } from "./decide/parse-arguments.ts";
import { redactedRun } from "./decide/redacted-reason.ts";
import { type ChangedArguments, runPolicies } from "./decide/run-policies.ts";
import { textEditorCall } from "./decide/text-editor-call.ts";
import { toolNamed } from "./decide/usual-form.ts";
import { warn } from "./decide/warn.ts";
import { Execution, notRun, verified } from "./execution.ts";
import type { GateOptions } from "./gate-options.ts";

/**
 * The path of every tool call, from the model to its outcome, for calls that may go side by side: registry, schema, analyse,
 * decide, confirm, record, execute, verify, outcome. What a stage does is in the files beside this one; which comes after which
 * is here alone. Rejects only when the records cannot be written: then nothing more has run.
 */
export async function runCalls(
  calls: readonly ToolCall[],
  turn: Omit<CallContext, "callId">,
  options: GateOptions,
): Promise<readonly CallOutcome[]> {
  const { journal, observer = unobservedGate } = options;
  const admitted = await Promise.all(calls.map((call) => admitCall(call, { ...turn, callId: call.id }, options)));

  // 6 record: what is about to happen is durable before it does
  const begun = admitted.filter(({ refusal }) => refusal === undefined).map(({ decision }) => decision);
  if (begun.length > 0) await journal.begin(begun, turn.turnId);

  const ended = await Promise.all(
    admitted.map(async (call) => {
      const context = { ...turn, callId: call.decision.call.id };
      const result = await observer.execute(call.decision, () => executeCall(call, context, options));
      return { decision: finalDecision(call, result), result };
    }),
  );

  // 9 outcome: with the refusals
  await journal.end(ended, turn.turnId);
  return ended.map(({ result }) => result);
}

/** Stages 1 to 5: decides, asks if needed, and after a yes decides again, because things may have changed. */
async function admitCall(call: ToolCall, context: CallContext, options: GateOptions): Promise<AdmittedCall> {
  if (context.signal.aborted) return refused(call, undefined, stopped);
  try {
    const decided = await decideInLine(call, context, options);
    report(decided, context.turnId, options);
    if (decided.type === "invalid" || decided.verdict.type === "allow") return settled(decided);
    if (decided.verdict.type === "deny") return await explainedRefusal(settled(decided), decided, context, options);

    // 5 confirm
    const asked = askAbout(decided, decided.verdict.finding, context.turnId, options);
    const answer = await answerTo(asked, context, options);
    // Only calls that another agent runs are passed on: for our own tools, nobody else could still refuse.
    const isPassedOn = answer.type === "passed-on" && decided.tool.runBy === "host";
    if (answer.type !== "yes" && !isPassedOn) return refusedByAnswer(decided, answer);

    const again = await decide(call, context, options);
    if (again.type === "invalid" || again.verdict.type === "deny") {
      report(again, context.turnId, options);
      return again.type === "invalid"
        ? settled(again)
        : await explainedRefusal(settled(again), again, context, options);
    }
    // A yes covers the action it was given for. If the call now means something else, nobody agreed to it.
    const now = buildQuestion(again, decided.verdict.finding, questionContext(context.turnId, options));
    const sameRules = factsOf(again).rules.every((rule) => asked.facts.rules.includes(rule));
    if (now.actionSha256 !== asked.question.actionSha256 || again.risk !== decided.risk || !sameRules) {
      return refused(call, again, changedAfterApproval);
    }
    const decision = await withPattern(decisionOf(again, answer), answer, asked, options);
    return { decision, decided: again, refusal: undefined };
  } catch (error) {
    if (context.signal.aborted) return refused(call, undefined, stopped);
    await warn(`The gate could not decide about ${call.name}`, error, context.turnId, options);
    return refused(call, undefined, gateFailed);
  }
}

/** Decides; if only another session's turn prevents the call, waits for its end and decides again. */
async function decideInLine(call: ToolCall, context: CallContext, options: GateOptions): Promise<DecidedCall> {
  const decided = await decide(call, context, options);
  if (options.waitForTree === undefined || decided.type === "invalid") return decided;
  const denials = decided.fired.filter(({ verdict }) => verdict.type === "deny");
  if (denials.length === 0 || denials.some(({ policy }) => policy !== singleWriter)) return decided;
  await options.waitForTree(context.signal);
  // Files and rules may have changed meanwhile.
  return decide(call, context, options);
}

function decide(call: ToolCall, context: CallContext, options: GateOptions): Promise<DecidedCall> {
  const { observer = unobservedGate } = options;
  return observer.decide(() => decideCall(call, context, options));
}

/** Stages 1 to 4: what a call is, what it would do, and whether it is allowed. Nothing is asked, recorded or run. */
export async function decideCall(made: ToolCall, context: CallContext, options: DecideOptions): Promise<DecidedCall> {
  const { redactor, runner = toolsAlone } = options;
  const { signal } = context;

  // 1 registry
  const meant = textEditorCall(made);
  const tool = toolNamed(options.tools, meant.name);
  if (tool === undefined) return invalidCall(made, unknownTool(made, options.tools), redactor);
  const call = { ...meant, name: tool.name };

  // 2 schema
  const parsed = parseArguments(tool, call.argumentsJson);
  if (!parsed.ok) return invalidCall(call, badArguments(tool, parsed.problem), redactor);

  // 3 analyse
  let analysis: Analysis;
  try {
    analysis = withDeclaredRisk(await runner.analyse(tool, parsed.args, context), call.declaredRisk);
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ToolFailure)) throw error;
    const argumentsJson = canonicalJson(parsed.args);
    return invalidCall(call, { error: error.toToolError(), failureClass: error.failureClass, argumentsJson }, redactor);
  }
  const args = analysis.args ?? parsed.args;
  const argumentsJson = canonicalJson(args);
  const input = await redactor.redact(argumentsJson);
  const otherWords = parsed.mended || made.name !== tool.name || analysis.args !== undefined;
  const asCalled = otherWords && (await redactor.redact(`${made.name} ${made.argumentsJson}`.slice(0, 4096)));

  // 4 decide
  const about = policyInput({ call, tool, args, analysis }, context, options);
  const run = await runPolicies(options.policies, about, { timeoutMs: options.policyTimeoutMs, signal });
  const decided: Decided = {
    type: "decided",
    call,
    tool,
    args,
    analysis,
    ...(await redactedRun(run, redactor)),
    risk: computeRisk(analysis),
    argumentsJson,
    input,
    ...(asCalled === false ? {} : { asCalled }),
  };
  const [change, ...others] = run.verdict.type === "deny" ? [] : run.changes;
  return change === undefined ? decided : decideChanged(decided, [change, ...others], context, options);
}

/** The call with the arguments that users' programs want goes through stages 1 to 4 anew; only those programs have judged it. */
async function decideChanged(
  decided: Decided,
  changes: readonly [ChangedArguments, ...ChangedArguments[]],
  context: CallContext,
  options: DecideOptions,
): Promise<DecidedCall> {
  const [{ args }] = changes;
  const argumentsJson = JSON.stringify(args);
  const refuse = async (reason: string): Promise<DecidedCall> => {
    const shown = await options.redactor.redact(argumentsJson.slice(0, maxHint));
    const hint = argumentsJson.length <= maxHint ? `Call the tool with ${shown}.` : "Ask the user for them.";
    const verdict = deny({ code: "hook_denied", rule: "hook/arguments", reason, hint });
    return { ...decided, verdict, fired: [...decided.fired, { policy: "hooks", verdict }] };
  };
  // Another agent runs its call as it made it.
  if (decided.tool.runBy === "host") return refuse("A hook of the user wants other arguments.");
  if (options.isChanged === true || changes.some((other) => canonicalJson(other.args) !== canonicalJson(args))) {
    return refuse("Hooks of the user want different arguments.");
  }
  const policies = options.policies.filter((policy) => changes.every((change) => change.policy !== policy));
  const call = { ...decided.call, argumentsJson };
  const again = await decideCall(call, context, { ...options, policies, isChanged: true });
  if (again.type === "invalid") return again;
  const asks = decided.fired.filter(({ policy }) => changes.some((change) => change.policy.name === policy));
  return {
    ...again,
    call: decided.call,
    verdict: strictest([again.verdict, ...asks.map(({ verdict }) => verdict)]),
    fired: [...again.fired, ...asks],
    asCalled: decided.asCalled ?? `${decided.call.name} ${decided.input}`.slice(0, 4096),
    warnings: [...decided.warnings, ...again.warnings, `A hook changed the arguments of ${decided.call.name}.`],
  };
}

/** Longer arguments that a hook wants are not repeated to the model. */
const maxHint = 4_000;

/** Every rule that looks at the risk sees the higher one. */
function withDeclaredRisk(analysis: Analysis, declared: Risk | undefined): Analysis {
  return declared === undefined ? analysis : { ...analysis, risk: highestRisk([analysis.risk ?? "low", declared]) };
}

function report(decided: DecidedCall, turnId: string, { journal, remembered }: GateOptions): void {
  if (decided.type === "decided") {
    for (const warning of decided.warnings) journal.warn(warning, turnId);
    const facts = factsOf(decided);
    if (facts.shape !== undefined) remembered.saw(facts);
  }
  journal.decided(decisionOf(decided, undefined), turnId);
}

/** Stages 7 and 8: runs an admitted call with the effects that were decided on, and looks at the world again. */
async function executeCall(admitted: AdmittedCall, context: CallContext, options: GateOptions): Promise<CallOutcome> {
  const { now, runner = toolsAlone } = options;
  const startedAt = now();
  const { decided, refusal } = admitted;
  if (refusal !== undefined || decided === undefined) return notRun(admitted, refusal ?? stopped, startedAt);
  if (context.signal.aborted) return notRun(admitted, stopped, startedAt);
  using execution = new Execution(decided, admitted.decision, context, options);
  if (execution.forbidden !== undefined) return notRun(admitted, execution.forbidden, startedAt);
  try {
    // 7 execute: through its context the tool has found changes judged, and connections
    const outcome = await runner.execute(decided.tool, decided.args, decided.analysis, execution.context);
    await execution.output.end();

    // 8 verify
    const verification = await verified(decided, outcome, context);
    await Promise.all(outcome.later ?? []);
    return { ...(await execution.ended(outcome)), verification, startedAt, endedAt: now() };
  } catch (error) {
    await execution.output.end();
    const verification = { state: "unverified", evidence: "The tool did not finish." } as const;
    return { ...(await execution.failed(error)), verification, startedAt, endedAt: now() };
  }
}
