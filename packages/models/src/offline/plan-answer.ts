import { analyseCommand } from "@gennai/governance/command/analyse-command";
import { shellWords } from "@gennai/governance/command/shell-words";
import { computeRisk } from "@gennai/governance/policies/risk";
import { unifiedDiff } from "@gennai/machine/changes/unified-diff";
import { canonicalJson } from "@gennai/protocol/canonical-json";
import { highestRisk, type Risk } from "@gennai/protocol/model/governance/risk";
import type { ContractPlan, PlanAction, RinaEnvelope } from "@gennai/protocol/plan-schema";
import { draftChange, type FileChange, isChange } from "./draft-change.ts";
import type { Step } from "./parse-request.ts";
import { changeWords } from "./perform-steps.ts";
import type { Work } from "./work.ts";

/**
 * Reads what the steps need and answers with an envelope as JSON text: a plan for changes and commands, chat for words, and
 * an error for what cannot be planned. Writes and runs nothing.
 * @param id of the plan, from what came before in the conversation
 */
export function* planAnswer(steps: readonly Step[], id: string): Work<string> {
  const [first] = steps;
  if (first?.verb === "say" && steps.length === 1) return envelope({ kind: "chat", payload: { text: first.text } });
  const last = steps.at(-1);
  const verification = last?.verb === "verify" ? [last.text] : [];
  const planned = steps.slice(0, steps.length - verification.length);
  const draft = new Map<string, FileChange>();
  const made: ContractPlan["steps"] = [];
  for (const [index, step] of planned.entries()) {
    // What proves the whole proves a command as well; nothing else is known of what it is for.
    const proofs = index === planned.length - 1 || step.verb === "run" ? verification : [];
    if (isChange(step)) {
      const { changes, problems } = yield* draftChange(step, draft);
      if (problems.length > 0 || changes.length === 0) return failedPlan(changeWords(step, [], problems));
      const ownProofs = changes.map(({ path }) => proof(step, path));
      made.push(planStep(step, index, changes.map(actionFor), [...ownProofs, ...proofs]));
    } else if (step.verb !== "run" || proofs.length === 0) {
      const why = step.verb === "run" ? "Say how it is proven: … then verify COMMAND" : "I plan changes and commands.";
      return failedPlan(`I cannot plan to ${step.words}. ${why}`);
    } else made.push(planStep(step, index, [{ type: "command", command: step.text }], proofs));
  }
  const words = planned.map((step) => step.words);
  if (made.length === 0) return failedPlan("There is nothing to plan.");
  const title = (words[0] ?? "") + (words.length > 1 ? ` and ${words.length - 1} more` : "");
  const summary = `The offline assistant plans to ${words.join(", then ")}.`;
  return envelope({ kind: "plan", payload: { id, title, summary, steps: made } });
}

/** What is said when a request cannot be turned into a plan. */
export function failedPlan(message: string): string {
  return envelope({ kind: "error", payload: { message } });
}

function envelope(answer: RinaEnvelope): string {
  return canonicalJson(answer);
}

/** The step with the risk that the server will find in its actions and its proof. */
function planStep({ words }: Step, index: number, actions: PlanAction[], proofs: readonly string[]) {
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
    verification_plan: proofs.map((command) => ({ type: "command" as const, command })),
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
  const effect = { type: "write", operation: "update", path: written, base: undefined, current: undefined } as const;
  return computeRisk({ statement: "", effects: [effect] });
}

function actionFor({ path, before, after }: FileChange): PlanAction {
  if (after === undefined) return { type: "command", command: `rm -- ${shellWords([path])}` };
  if (before === undefined) return { type: "file_write", path, content: after };
  const patch = unifiedDiff({ path, operation: "update", oldText: before, newText: after }).text;
  return { type: "file_patch", path, patch };
}

/** A command that only reads, fails when the step did not do what it was for, and else says something. */
function proof({ verb, text, by }: Step, path: string): string {
  if (verb === "delete") return `test ! -e ${shellWords([path])} && echo gone`;
  const written = verb === "create" || verb === "append" ? text : by;
  const line = written.split("\n").findLast((each) => each.trim() !== "");
  return line === undefined
    ? `test -f ${shellWords([path])} && echo there`
    : `grep -nF -e ${shellWords([line])} -- ${shellWords([path])}`;
}
