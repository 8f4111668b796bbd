import type { PlanIssue } from "./model/governance/plan.ts";

/** The request for the same plan in a valid form: "Regenerate (strict)". */
export function correctionRequestText(issues: readonly PlanIssue[]): string {
  const list = issueLines(issues).map((line) => `- ${line}`);
  return `This is no valid plan:\n${list.join("\n")}\nAnswer again with the whole envelope, mended, as one JSON object and nothing else.`;
}

export function issueLines(issues: readonly PlanIssue[]): readonly string[] {
  return issues.map(issueLine);
}

/** An issue with its place in the plan. */
export function issueLine({ path, message }: PlanIssue): string {
  return path === "" || message.includes(path) ? message : `${path}: ${message}`;
}
