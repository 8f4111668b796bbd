import type { Redactor } from "../../redaction.ts";
import type { ToolError } from "../../tool-error.ts";
import type { Verdict } from "../../verdict.ts";
import type { PolicyRun } from "./run-policies.ts";

/** Message and hint may quote a file, a command's output or a hook's words. */
export async function redactedError(error: ToolError, redactor: Redactor): Promise<ToolError> {
  const message = await redactor.redact(error.message);
  return error.hint === undefined
    ? { ...error, message }
    : { ...error, message, hint: await redactor.redact(error.hint) };
}

/** The same for all that policies say. */
export async function redactedRun(
  { verdict, fired, warnings }: PolicyRun,
  redactor: Redactor,
): Promise<Omit<PolicyRun, "changes">> {
  return {
    verdict: await redactedVerdict(verdict, redactor),
    fired: await Promise.all(
      fired.map(async (each) => ({ ...each, verdict: await redactedVerdict(each.verdict, redactor) })),
    ),
    warnings,
  };
}

async function redactedVerdict(verdict: Verdict, redactor: Redactor): Promise<Verdict> {
  if (verdict.type === "allow") return verdict;
  const { finding } = verdict;
  const reason = await redactor.redact(finding.reason);
  const hint = finding.hint === undefined ? {} : { hint: await redactor.redact(finding.hint) };
  return { ...verdict, finding: { ...finding, reason, ...hint } };
}
