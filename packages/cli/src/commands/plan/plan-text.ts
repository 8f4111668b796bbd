import { envelopeWords } from "@gennai/client/session-plans";
import { spelledOut } from "@gennai/protocol/hidden-characters";
import type { Plan, PlanIssue, PlanStep } from "@gennai/protocol/model/governance/plan";
import { type Risk, riskWords } from "@gennai/protocol/model/governance/risk";
import type { VerificationResult } from "@gennai/protocol/model/governance/verification-result";
import type { PlannedAction } from "@gennai/protocol/model/session/planned-action";
import { issueLine } from "@gennai/protocol/plan-correction";
import { colouredLine, colouredRisk, type Paint } from "../../terminal/colours.ts";
import { terminalSafe } from "../../terminal/terminal-safe.ts";

const verdictStyles = { allow: "green", ask: "yellow", deny: "red" } as const;
const marks: Readonly<Record<PlanStep["state"], string>> = {
  pending: "○",
  running: "…",
  executed: "✓",
  failed: "✗",
  skipped: "-",
};
/** Lines of output shown of a step or a check; `--json` has all that the server kept. */
const shownLines = 12;

/** A plan with its steps, as the server holds it. */
export function describePlan(plan: Plan, paint: Paint): string {
  const lines = [
    `${paint("bold", `Plan ${terminalSafe(plan.planId)}`)}  ${stateText(plan)}`,
    `  ${spelledOut(plan.title)}`,
    ...(plan.summary === "" ? [] : indent(spelledOut(plan.summary))),
    `  digest ${plan.digest}`,
    ...risksOf(plan.planJson).map(({ level, text }) => `  ${colouredRisk(level, paint)} ${spelledOut(text)}`),
    ...plan.steps.flatMap((step) => describeStep(step, paint)),
    ...(plan.remediation === "" ? [] : [paint("yellow", `  ${terminalSafe(plan.remediation)}`)]),
  ];
  return `${lines.join("\n")}\n`;
}

/** A plan in one line, for lists. */
export function planLine(plan: Plan): string {
  return `${terminalSafe(plan.planId)}  ${plan.state.padEnd(17)}  ${plan.digest.slice(0, 12)}  ${terminalSafe(plan.title)}${plan.planJson === "" ? "  (its stored text is damaged or gone)" : ""}\n`;
}

/** Shows every action in full, because people approve what they see. Control characters and the like are spelled out. */
export function describeActions(actions: readonly PlannedAction[], paint: Paint): string {
  return actions
    .map((action) => {
      const place = `${terminalSafe(action.stepId)}.${action.actionIndex + 1}`;
      const word = paint(verdictStyles[action.verdict], action.verdict);
      const isFile = action.change === undefined && action.command === "";
      const about =
        action.change !== undefined
          ? `${action.change.operation} ${spelledOut(action.change.path)}`
          : isFile
            ? "change of a file, not shown because a rule refuses it"
            : "command";
      const lines = [
        `${paint("cyan", "●")} ${place} ${about}  ${word} ${colouredRisk(action.risk, paint)}`,
        ...(isFile
          ? []
          : action.change === undefined
            ? indent(`$ ${spelledOut(action.command)}${action.cwd === "" ? "" : `\nin ${spelledOut(action.cwd)}`}`)
            : diffLines(action.change.unifiedDiff, paint)),
        ...(action.change === undefined || action.change.warning === ""
          ? []
          : [paint("yellow", `  ${terminalSafe(action.change.warning)}`)]),
        ...(action.change?.conflict === true
          ? [paint("red", "  conflict: it does not apply to the file as it is")]
          : []),
        ...(action.reason === "" ? [] : [`  ${terminalSafe(action.reason)}`]),
      ];
      return `${lines.join("\n")}\n`;
    })
    .join("");
}

/** The plan's three separate facts: claimed, executed, verified. */
export function describeOutcome(plan: Plan, paint: Paint): string {
  const fact = (name: string, holds: boolean): string =>
    `${name} ${paint(holds ? "green" : "red", holds ? "yes" : "no")}`;
  const facts = [fact("claimed", plan.claimed), fact("executed", plan.executed), fact("verified", plan.verified)];
  return `${stateText(plan)}: ${facts.join(" · ")}\n`;
}

export function describeResults(results: readonly VerificationResult[], paint: Paint): string {
  if (results.length === 0)
    return `${paint("yellow", "There is no verification command, so success is not claimed.")}\n`;
  return results
    .map(({ command, passed, exitCode, output }) => {
      const word = passed ? paint("green", "passed") : paint("red", "failed");
      const code = exitCode === undefined ? "" : ` (exit code ${exitCode})`;
      return [`${word}${code}  $ ${spelledOut(command)}`, ...tail(output, paint), ""].join("\n");
    })
    .join("");
}

/** Text for an answer that is not a plan: what is wrong with it, or what the model says instead. */
export function describeNoPlan(
  { raw, issues }: { readonly raw: string; readonly issues: readonly PlanIssue[] },
  paint: Paint,
): string {
  if (issues.length === 0) return `${terminalSafe(envelopeWords(raw))}\n`;
  return `${paint("red", "The model gave no valid plan:")}\n${describeIssues(issues, paint)}`;
}

function describeIssues(issues: readonly PlanIssue[], paint: Paint): string {
  return issues
    .map((issue) => `${paint("red", terminalSafe(issue.level))}  ${terminalSafe(issueLine(issue))}\n`)
    .join("");
}

function describeStep(step: PlanStep, paint: Paint): readonly string[] {
  const failure = step.failureClass === "" ? "" : `  ${paint("red", terminalSafe(step.failureClass))}`;
  const needs = step.requiresConfirmation ? paint("yellow", "  needs confirmation") : "";
  const proofs = step.verificationPlan.map((command) => paint("dim", `    verify: ${spelledOut(command)}`));
  return [
    `  ${marks[step.state]} ${terminalSafe(step.id)}  ${spelledOut(step.title || step.description)}  ${colouredRisk(step.risk, paint)}${needs}${failure}`,
    ...(proofs.length === 0 ? [paint("dim", "    verify: nothing")] : proofs),
    ...tail(step.evidence, paint),
  ];
}

function stateText({ state }: Plan): string {
  return state.replaceAll("_", " ");
}

/** Risks that the plan's author names. The digest covers these words, so they are read from the text that is approved. */
function risksOf(planJson: string): readonly { readonly level: Risk; readonly text: string }[] {
  const plan: unknown = JSON.parse(planJson === "" ? "{}" : planJson);
  if (typeof plan !== "object" || plan === null || !("risks" in plan) || !Array.isArray(plan.risks)) return [];
  const risks: readonly unknown[] = plan.risks;
  return risks.flatMap((risk) => {
    if (typeof risk !== "object" || risk === null || !("level" in risk) || !("text" in risk)) return [];
    const { text } = risk;
    const level = riskWords.words.find((word) => word === risk.level);
    return typeof text === "string" && level !== undefined ? [{ level, text }] : [];
  });
}

function diffLines(diff: string, paint: Paint): readonly string[] {
  return diff
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => `  ${colouredLine(spelledOut(line), paint)}`);
}

function tail(output: string, paint: Paint): readonly string[] {
  const lines = output
    .trimEnd()
    .split("\n")
    .filter((line) => line !== "");
  const shown = lines.slice(-shownLines).map((line) => paint("dim", `    ${terminalSafe(line)}`));
  return lines.length > shown.length
    ? [paint("dim", `    … ${lines.length - shown.length} lines before`), ...shown]
    : shown;
}

function indent(text: string): readonly string[] {
  return text.split("\n").map((line) => `  ${line}`);
}
