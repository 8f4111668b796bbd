import type { PlanIssue } from "@gennai/governance/plan";

type PlanFault = Pick<PlanIssue, "path" | "message">;

/** The request for the same plan in a valid form: "Regenerate (strict)". */
export function correctionRequestText(issues: readonly PlanFault[]): string {
  const list = issueLines(issues).map((line) => `- ${line}`);
  return `Your last answer is not a plan that could be approved:\n${list.join("\n")}\nAnswer again with the whole envelope, mended, as one JSON object and nothing else.`;
}

/** Each issue as one line with its place in the plan. */
export function issueLines(issues: readonly PlanFault[]): readonly string[] {
  return issues.map(({ path, message }) => (path === "" || message.includes(path) ? message : `${path}: ${message}`));
}
