import { canonicalJson } from "@gennai/protocol/canonical-json";
import { errorMessage } from "@gennai/protocol/error-message";
import { highestRisk, type Risk } from "@gennai/protocol/model/governance/risk";
import type { FailureClass } from "@gennai/protocol/model/governance/tool-outcome";
import { parseStrictJson } from "@gennai/protocol/strict-json";
import * as z from "zod";
import type { Effect } from "../../effect.ts";
import { computeRisk } from "../../policies/risk.ts";
import type { Policy, PolicyInput } from "../../policy.ts";
import type { Redactor } from "../../redaction.ts";
import type { Analysis, CallContext, Tool } from "../../tool.ts";
import { type ToolError, ToolFailure, toolErrorFromFinding } from "../../tool-error.ts";
import type { Verdict } from "../../verdict.ts";
import type { ToolCall } from "../gate-journal.ts";
import { redactedError, redactedVerdict } from "./redacted-reason.ts";
import { type FiredPolicy, runPolicies } from "./run-policies.ts";
import { textEditorCall } from "./text-editor-call.ts";
import { toolNamed, usualForm } from "./usual-form.ts";

/** Stages 1 to 4 for one call: what it is, what it would do, and whether it is allowed. */
export type DecidedCall =
  | {
      readonly type: "decided";
      readonly call: ToolCall;
      readonly tool: Tool;
      readonly args: unknown;
      readonly analysis: Analysis;
      readonly verdict: Verdict;
      /** Every policy that asks or denies, not only the strictest. */
      readonly fired: readonly FiredPolicy[];
      readonly risk: Risk;
      /** Arguments as canonical JSON, whole; for the person who approves. */
      readonly argumentsJson: string;
      /** The same, redacted; for every record. */
      readonly input: string;
      /** As the model made it, redacted, if its form was different. */
      readonly asCalled?: string;
      readonly warnings: readonly string[];
    }
  /** Not a call that could run: unknown tool, bad arguments, or its analysis failed. */
  | {
      readonly type: "invalid";
      readonly call: ToolCall;
      readonly error: ToolError;
      readonly failureClass: FailureClass;
      readonly effects: readonly Effect[];
      readonly input: string;
    };

export interface DecideOptions {
  readonly tools: ReadonlyMap<string, Tool>;
  readonly policies: readonly Policy[];
  readonly redactor: Redactor;
  readonly sessionId: string;
  readonly policyTimeoutMs: number;
}

export async function decideCall(made: ToolCall, context: CallContext, options: DecideOptions): Promise<DecidedCall> {
  // 1 registry
  const meant = textEditorCall(made);
  const tool = toolNamed(options.tools, meant.name);
  const call = tool === undefined ? made : { ...meant, name: tool.name };
  if (tool === undefined) {
    const error = {
      code: "unknown_tool",
      message: `There is no tool named ${JSON.stringify(call.name.slice(0, 100))} here.`,
      rule: "gate/registry",
      hint: `Tools: ${[...options.tools.keys()].join(", ") || "none"}.`,
      retryable: false,
    } as const;
    return invalid(call, options.redactor, { error, failureClass: "tool_unavailable" });
  }

  // 2 schema
  const parsed = parseArguments(tool, call.argumentsJson);
  if (!parsed.ok) {
    const error = {
      code: "bad_arguments",
      message: parsed.problem,
      rule: "gate/schema",
      hint: `Call ${tool.name} again with arguments that fit its schema.`,
      retryable: true,
    } as const;
    // The tool is there: it was called wrongly.
    return invalid(call, options.redactor, { error, failureClass: "command_error" });
  }

  // 3 analyse
  let analysis: Analysis;
  try {
    analysis = withDeclaredRisk(await tool.analyse(parsed.args, context), call.declaredRisk);
  } catch (error) {
    context.signal.throwIfAborted();
    if (error instanceof ToolFailure) {
      return {
        type: "invalid",
        call,
        error: await redactedError(error.toToolError(), options.redactor),
        failureClass: error.failureClass,
        effects: [],
        input: await options.redactor.redact(canonicalJson(parsed.args)),
      };
    }
    throw error;
  }

  const { redactor } = options;
  const args = analysis.args ?? parsed.args;
  const argumentsJson = canonicalJson(args);
  const input = await redactor.redact(argumentsJson);
  const otherWords = parsed.mended || made.name !== tool.name || analysis.args !== undefined;
  const asCalled = otherWords ? await asMade(made, redactor) : undefined;

  // 4 decide
  const { verdict, fired, warnings } = await runPolicies(
    options.policies,
    policyInput({ call, tool, args, analysis }, context, options),
    { timeoutMs: options.policyTimeoutMs, signal: context.signal },
  );
  return {
    type: "decided",
    call,
    tool,
    args,
    analysis,
    verdict: await redactedVerdict(verdict, redactor),
    fired: await Promise.all(
      fired.map(async (each) => ({ ...each, verdict: await redactedVerdict(each.verdict, redactor) })),
    ),
    risk: computeRisk(analysis),
    argumentsJson,
    input,
    ...(asCalled === undefined ? {} : { asCalled }),
    warnings,
  };
}

/** Every rule that looks at the risk sees the higher one. */
function withDeclaredRisk(analysis: Analysis, declared: Risk | undefined): Analysis {
  return declared === undefined ? analysis : { ...analysis, risk: highestRisk([analysis.risk ?? "low", declared]) };
}

/** The call as policies see it. */
export function policyInput(
  decided: Pick<DecidedCall & { readonly type: "decided" }, "call" | "tool" | "args" | "analysis">,
  context: Pick<CallContext, "turnId">,
  options: Pick<DecideOptions, "sessionId">,
): PolicyInput {
  const { call, tool, args, analysis } = decided;
  return {
    callId: call.id,
    toolName: tool.name,
    args,
    access: tool.access,
    analysis,
    sessionId: options.sessionId,
    turnId: context.turnId,
  };
}

export function findingOf(verdict: Verdict): ToolError | undefined {
  return verdict.type === "allow" ? undefined : toolErrorFromFinding(verdict.finding);
}

async function invalid(
  call: ToolCall,
  redactor: Redactor,
  { error, failureClass }: { readonly error: ToolError; readonly failureClass: FailureClass },
): Promise<DecidedCall> {
  const input = await redactor.redact(call.argumentsJson.slice(0, 4096));
  const redacted = await redactedError(error, redactor);
  return { type: "invalid", call, error: redacted, failureClass, effects: [], input };
}

async function asMade({ name, argumentsJson }: ToolCall, redactor: Redactor): Promise<string> {
  return redactor.redact(`${name} ${argumentsJson}`.slice(0, 4096));
}

/** UTF-16 code units of arguments: more than the largest file that can be written. */
const maxArguments = 64 * 1024 * 1024;
const maxArgumentDepth = 256;

function parseArguments(
  tool: Tool,
  json: string,
):
  | { readonly ok: true; readonly args: unknown; readonly mended: boolean }
  | { readonly ok: false; readonly problem: string } {
  let value: unknown;
  try {
    // A duplicate key, or `__proto__`, may be read differently by the approver and by the code that runs it.
    value = json === "" ? {} : parseStrictJson(json, { maxLength: maxArguments, maxDepth: maxArgumentDepth });
    // Refuses what JSON.parse lets through and no record could hold: lone surrogates, unsafe integers.
    canonicalJson(value);
  } catch (error) {
    const problem = errorMessage(error);
    return { ok: false, problem: `The arguments of ${tool.name} are not valid JSON: ${problem}` };
  }
  const parameters = parametersFor(tool, value);
  const result = parameters.safeParse(value);
  if (result.success) return { ok: true, args: result.data, mended: false };
  // Twice: what has its own name only now may still be written as text.
  const renamed = usualForm(tool, value, result.error.issues);
  const tried = parameters.safeParse(renamed);
  const mended = tried.success ? tried : parameters.safeParse(usualForm(tool, renamed, tried.error.issues));
  if (mended.success) return { ok: true, args: mended.data, mended: true };
  return { ok: false, problem: `The arguments of ${tool.name} do not fit: ${z.prettifyError(mended.error)}` };
}

function parametersFor(tool: Tool, value: unknown): z.ZodType {
  if (typeof value !== "object" || value === null) return tool.parameters;
  const form = tool.otherForms?.find(({ mark }) => Object.hasOwn(value, mark));
  return form?.parameters ?? tool.parameters;
}
