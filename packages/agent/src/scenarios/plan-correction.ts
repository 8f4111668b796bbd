import type { PlanIssue } from "@gennai/governance/plan/plan";

type PlanFault = Pick<PlanIssue, "path" | "message">;

/** Asks for the same plan again, in a form that holds: "Regenerate (strict)". */
export function correctionRequestText(issues: readonly PlanFault[]): string {
  const list = issueLines(issues).map((line) => `- ${line}`);
  return `Your last answer is not a plan that could be approved:\n${list.join("\n")}\nAnswer again with the whole envelope, mended, as one JSON object and nothing else.`;
}

/** Each issue as one line that says where. */
export function issueLines(issues: readonly PlanFault[]): readonly string[] {
  return issues.map(({ path, message }) => (path === "" || message.includes(path) ? message : `${path}: ${message}`));
}
