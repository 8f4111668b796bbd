import type { GateJournal } from "../../gate-journal.ts";
import type { CallContext } from "../../tool.ts";
import type { ToolError } from "../../tool-error.ts";
import type { AdmittedCall, Decided, DecideOptions } from "../decide/decided-call.ts";
import { policyInput } from "../decide/decided-call.ts";
import { runPolicies } from "../decide/run-policies.ts";
import { warn } from "../decide/warn.ts";

interface ExplainOptions extends DecideOptions {
  readonly journal: Pick<GateJournal, "warn">;
}

/** Characters of a refusal's detail that go to the model. */
const maxDetail = 12_000;

/** A refusal with what its tool has to say about it, as far as the model may see that. */
export async function explainedRefusal(
  admitted: AdmittedCall,
  decided: Decided,
  context: CallContext,
  options: ExplainOptions,
): Promise<AdmittedCall> {
  const { refusal } = admitted;
  if (refusal === undefined) return admitted;
  // The detail does not help against other denials, and the model may not be allowed to see the file.
  const denials = decided.fired.filter(({ verdict }) => verdict.type === "deny");
  if (denials.some(({ verdict }) => verdict.type !== "allow" && verdict.finding.code !== refusal.error.code))
    return admitted;
  const error = await explainedError(refusal.error, decided, context, options);
  return { ...admitted, refusal: { ...refusal, error } };
}

/**
 * The error with its tool's detail: masked, bounded, and only if every policy allows the model to read everything the call
 * would write. On any failure, the plain error.
 */
export async function explainedError(
  error: ToolError,
  decided: Decided,
  context: CallContext,
  options: ExplainOptions,
): Promise<ToolError> {
  const { tool, args, analysis } = decided;
  if (tool.explainRefusal === undefined || context.signal.aborted) return error;
  try {
    if (!(await mayBeRead(decided, context, options))) return error;
    const detail = await tool.explainRefusal(args, analysis, error, context);
    if (detail === undefined) return error;
    const masked = await options.redactor.redact(detail);
    return {
      ...error,
      detail: masked.length > maxDetail ? `${masked.slice(0, maxDetail).toWellFormed()}\n[… cut]` : masked,
    };
  } catch (problem) {
    if (!context.signal.aborted)
      await warn(`${tool.name} could not explain its refusal`, problem, context.turnId, options);
    return error;
  }
}

/** Asks the policies about reading each file, as if Read were called; a question counts as a no. */
async function mayBeRead(decided: Decided, context: CallContext, options: DecideOptions): Promise<boolean> {
  const read = options.tools.get("Read");
  if (read === undefined) return false;
  const paths = decided.analysis.effects.flatMap((effect) => (effect.type === "write" ? [effect.path] : []));
  for (const path of paths) {
    const args = { file_path: path.raw };
    const analysis = { statement: `Read ${path.raw}`, effects: [{ type: "read", path } as const] };
    const input = policyInput({ call: decided.call, tool: read, args, analysis }, context, options);
    const { verdict } = await runPolicies(options.policies, input, {
      timeoutMs: options.policyTimeoutMs,
      signal: context.signal,
    });
    if (verdict.type !== "allow") return false;
  }
  return paths.length > 0;
}
