import { analyseCommand } from "@gennai/governance/command/analyse-command";
import { shellWords } from "@gennai/governance/command/shell-words";
import { computeRisk } from "@gennai/governance/policies/risk";
import { unifiedDiff } from "@gennai/machine/changes/diff/unified-diff";
import { canonicalJson } from "@gennai/protocol/canonical-json";
import { highestRisk, type Risk } from "@gennai/protocol/model/governance/risk";
import type { ContractPlan, PlanAction, RinaEnvelope } from "@gennai/protocol/plan-schema";
import { addToDraft, reportOf } from "./change-files.ts";
import { draftChange, type FileChange } from "./draft-change.ts";
import { type ChangeStep, describeStep, isChange, type Step } from "./request.ts";
import type { Work } from "./tool-round.ts";

type PlanStep = ContractPlan["steps"][number];

/**
 * Reads what the steps need and answers with an envelope as JSON text: a plan for changes and commands, chat for words, and
 * an error for what cannot be planned. Writes and runs nothing.
 * @param id of the plan, from what came before in the conversation
 */
export function* planAnswer(steps: readonly Step[], id: string): Work<string> {
  const [first, ...others] = steps;
  if (first?.kind === "say" && others.length === 0) return text({ kind: "chat", payload: { text: first.text } });
  const last = steps.at(-1);
  const verification = last?.kind === "verify" ? [last.command] : [];
  const planned = verification.length === 0 ? steps : steps.slice(0, -1);
  const draft = new Map<string, FileChange>();
  const made: PlanStep[] = [];
  for (const [index, step] of planned.entries()) {
    // What proves the whole proves a command as well; nothing else is known of what it is for.
    const proofs = index === planned.length - 1 || step.kind === "run" ? verification : [];
    if (isChange(step)) {
      const drafted = yield* draftChange(step, draft);
      const report = reportOf(step, drafted, "");
      if (report.text !== "") return failedPlan(report.text);
      addToDraft(draft, drafted.changes);
      const paths = drafted.changes.map(({ path }) => path);
      made.push(
        planStep(step, index, drafted.changes.map(actionFor), [...paths.map((path) => proof(step, path)), ...proofs]),
      );
    } else if (step.kind !== "run")
      return failedPlan(`In plan mode I plan changes and commands; I cannot plan to ${describeStep(step)}.`);
    else if (proofs.length === 0) return failedPlan(unproven(step));
    else made.push(planStep(step, index, [{ type: "command", command: step.command }], proofs));
  }
  if (made.length === 0) return failedPlan("There is nothing to plan.");
  const words = planned.map(describeStep);
  const title = oneLine(words[0] ?? "") + (words.length > 1 ? ` and ${words.length - 1} more` : "");
  const summary = `The offline assistant plans to ${words.join(", then ")}.`;
  return text({ kind: "plan", payload: { id, title, summary, steps: made } });
}

/** What is said when a request cannot be turned into a plan. */
export function failedPlan(message: string): string {
  return text({ kind: "error", payload: { message } });
}

function text(envelope: RinaEnvelope): string {
  return canonicalJson(envelope);
}

function unproven(step: Step): string {
  return `Each step of a plan says how it is proven, and I cannot tell how to prove ${describeStep(step)}. Say it at the end: … then verify COMMAND`;
}

/** The step with the risk that the server will find in its actions and its proof. */
function planStep(step: Step, index: number, actions: PlanAction[], proofs: readonly string[]): PlanStep {
  const words = oneLine(describeStep(step));
  const risk = highestRisk([
    ...actions.map((action) => (action.type === "command" ? commandRisk(action.command) : writeRisk(action.path))),
    ...proofs.map(commandRisk),
  ]);
  const types = new Set(actions.map(({ type }) => type));
  return {
    id: `s${index + 1}`,
    title: words,
    intent: `You asked to ${words}.`,
    description: words,
    actions,
    tool: types.has("command") ? "Bash" : types.has("file_write") ? "Write" : "Edit",
    verification_plan: proofs.map((command) => ({ type: "command", command })),
    risk_level: risk,
    requires_confirmation: risk !== "low",
  };
}

function commandRisk(command: string): Risk {
  // The model does not know where it works. What names a place by its whole path counts as outside of it.
  return analyseCommand(command, { cwd: "/workspace", home: "/home/user" }).risk;
}

function writeRisk(path: string): Risk {
  const written = { raw: path, relative: path, absolute: `/workspace/${path}`, inside: true };
  return computeRisk({
    statement: "",
    effects: [{ type: "write", operation: "update", path: written, base: undefined, current: undefined }],
  });
}

function actionFor({ path, before, after }: FileChange): PlanAction {
  if (after === undefined) return { type: "command", command: `rm -- ${shellWords([path])}` };
  if (before === undefined) return { type: "file_write", path, content: after };
  const patch = unifiedDiff({ path, operation: "update", oldText: before, newText: after }).text;
  return { type: "file_patch", path, patch };
}

/** A command that only reads, fails when the step did not do what it was for, and else says something. */
function proof(step: ChangeStep, path: string): string {
  if (step.kind === "delete") return `test ! -e ${shellWords([path])} && echo gone`;
  const written = step.kind === "replace" ? step.replacement : step.kind === "create" ? step.content : step.text;
  const line = written.split("\n").findLast((each) => each.trim() !== "");
  return line === undefined
    ? `test -f ${shellWords([path])} && echo there`
    : `grep -nF -e ${shellWords([line])} -- ${shellWords([path])}`;
}

function oneLine(words: string): string {
  return words.replaceAll(/\s+/g, " ");
}
