import { analyseCommand } from "@gennai/governance/command/analyse-command";
import { computeRisk } from "@gennai/governance/policies/risk";
import { unifiedDiff } from "@gennai/machine/changes/diff/unified-diff";
import { canonicalJson } from "@gennai/protocol/canonical-json";
import { highestRisk, type Risk } from "@gennai/protocol/model/governance/risk";
import type { ContractPlan, PlanAction, RinaEnvelope } from "@gennai/protocol/plan/plan-schema";
import { ChangeDraft, type ChangeStep } from "./change-draft.ts";
import { useIntent } from "./governed-steps.ts";
import { describeStep, type Step } from "./request/request.ts";
import { Clause, isWord } from "./request/request-clause.ts";
import { tokenizeRequest } from "./request/request-tokens.ts";
import type { Work } from "./rounds/tool-round.ts";

type PlanStep = ContractPlan["steps"][number];
type Verification = PlanStep["verification_plan"][number];

/** Separates a request from its verification command: `… then verify npm test`. */
export function splitVerification(request: string): { readonly request: string; readonly verify: string | undefined } {
  const tokens = tokenizeRequest(request);
  const at = tokens.findIndex(
    (token, index) => isWord(token, "verify") && (index === 0 || isWord(tokens[index - 1], "then")),
  );
  const command = new Clause(request, tokens.slice(at + 1)).without("with").text();
  if (at === -1 || command === "") return { request, verify: undefined };
  const then = isWord(tokens[at - 2], "and") ? at - 2 : at - 1;
  return { request: request.slice(0, tokens[then]?.start ?? 0).replace(/[\s,]+$/, ""), verify: command };
}

/**
 * Reads what the steps need and answers with an envelope as JSON text: a plan for changes and commands, chat for words, and
 * an error for what cannot be planned. Writes and runs nothing.
 * @param id of the plan, from what came before in the conversation
 */
export function* writeEnvelope(
  steps: readonly Step[],
  tools: ReadonlySet<string>,
  options: { readonly id: string; readonly verify: string | undefined },
): Work<string> {
  const draft = new ChangeDraft();
  const planned: PlanStep[] = [];
  const seen = new Map<string, string | undefined>();
  for (const step of steps) {
    if (step.kind === "use-intent") {
      const report = yield* useIntent(step, tools);
      if (!report.ok) return failedEnvelope(report.text);
      continue;
    }
    if (step.kind === "say" && steps.length === 1) return text({ kind: "chat", payload: { text: step.text } });
    if (isChange(step)) {
      const report = yield* draft.add(step);
      if (!report.ok) return failedEnvelope(report.text);
      const actions = step.kind === "move" ? moveActions(step) : fileActions(draft, seen);
      rememberDraft(draft, seen);
      if (actions.length === 0)
        return failedEnvelope(report.text === "" ? `Nothing to do: ${describeStep(step)}.` : report.text);
      planned.push(planStep(planned.length, step, actions, proofs(step, actions)));
    } else if (step.kind === "run") {
      if (options.verify === undefined) return failedEnvelope(unproven(step));
      planned.push(planStep(planned.length, step, [{ type: "command", command: step.command }], []));
    } else return failedEnvelope(`In plan mode I plan changes and commands; I cannot plan to ${describeStep(step)}.`);
  }
  const last = planned.at(-1);
  if (last === undefined) return failedEnvelope("There is nothing to plan.");
  if (options.verify !== undefined) {
    // What proves the whole proves a command as well; nothing else is known of what it is for.
    for (const each of planned)
      if (each === last || each.verification_plan.length === 0) each.verification_plan.push(prove(options.verify));
  }
  const words = steps.filter((step) => step.kind !== "use-intent").map(describeStep);
  return text({
    kind: "plan",
    payload: {
      id: options.id,
      title: oneLine(words[0] ?? "") + (words.length > 1 ? ` and ${words.length - 1} more` : ""),
      summary: `The offline assistant plans to ${words.join(", then ")}.`,
      risks: risksOf(steps),
      steps: planned.map(withRisk),
    },
  });
}

function unproven(step: Step): string {
  return `Each step of a plan says how it is proven, and I cannot tell how to prove ${describeStep(step)}. Say it at the end: … then verify COMMAND`;
}

function commandRisk({ command }: { readonly command: string }): Risk {
  // The model does not know where it works. What names a place by its whole path counts as outside of it.
  return analyseCommand(command, { cwd: "/workspace", home: "/home/user" }).risk;
}

function writeRisk({ path }: { readonly path: string }): Risk {
  const written = { raw: path, relative: path, absolute: `/workspace/${path}`, inside: true };
  return computeRisk({
    statement: "",
    effects: [{ type: "write", operation: "update", path: written, base: undefined, current: undefined }],
  });
}

/** What is said when a request cannot be turned into a plan. */
export function failedEnvelope(message: string): string {
  return text({ kind: "error", payload: { message } });
}

function text(envelope: RinaEnvelope): string {
  return canonicalJson(envelope);
}

function planStep(index: number, step: Step, actions: PlanAction[], proof: Verification[]): PlanStep {
  const words = oneLine(describeStep(step));
  return {
    id: `s${index + 1}`,
    title: words,
    intent: `You asked to ${words}.`,
    description: words,
    actions,
    tool: toolFor(actions),
    verification_plan: proof,
    risk_level: "low",
    requires_confirmation: false,
  };
}

function toolFor(actions: readonly PlanAction[]): string {
  if (actions.some(({ type }) => type === "command")) return "Bash";
  return actions.every(({ type }) => type === "file_patch") ? "Edit" : "Write";
}

/** The step with the risk that the server will find in its actions and its proof. */
function withRisk(step: PlanStep): PlanStep {
  const risk = highestRisk([
    ...step.actions.map((action) => (action.type === "command" ? commandRisk(action) : writeRisk(action))),
    ...step.verification_plan.map(commandRisk),
  ]);
  return { ...step, risk_level: risk, requires_confirmation: risk !== "low" };
}

/** The actions that bring the files from where the last step left them to where the draft has them now. */
function fileActions(draft: ChangeDraft, seen: ReadonlyMap<string, string | undefined>): PlanAction[] {
  return [...draft.files].flatMap(([path, { before, after }]): PlanAction[] => {
    const now = seen.has(path) ? seen.get(path) : before;
    if (now === after) return [];
    if (after === undefined) return [{ type: "command", command: `rm -- ${quoted(path)}` }];
    if (now === undefined) return [{ type: "file_write", path, content: after }];
    const patch = unifiedDiff({ path, operation: "update", oldText: now, newText: after }).text;
    return [{ type: "file_patch", path, patch }];
  });
}

function rememberDraft(draft: ChangeDraft, seen: Map<string, string | undefined>): void {
  for (const [path, { after }] of draft.files) seen.set(path, after);
}

/** A command, as it keeps the file's mode; one that is there already is not overwritten. */
function moveActions({ from, to }: Extract<ChangeStep, { kind: "move" }>): PlanAction[] {
  const directory = to.includes("/") ? to.slice(0, to.lastIndexOf("/")) : "";
  const make = directory === "" ? "" : `mkdir -p -- ${quoted(directory)} && `;
  return [{ type: "command", command: `${make}mv -n -- ${quoted(from)} ${quoted(to)}` }];
}

/** Commands that fail when the step did not do what it was for; they only read. */
function proofs(step: ChangeStep, actions: readonly PlanAction[]): Verification[] {
  switch (step.kind) {
    case "delete":
      return [proveGone(step.path)];
    case "move":
      return [proveThere(step.to), proveGone(step.from)];
    case "create":
      return [proveText(step.path, step.content)];
    case "append":
      return [proveText(step.path, step.text)];
    case "replace":
      return actions.flatMap((action) => (action.type === "command" ? [] : [proveText(action.path, step.replacement)]));
  }
}

function proveText(path: string, content: string): Verification {
  const line = content.split("\n").findLast((each) => each.trim() !== "");
  return line === undefined ? proveThere(path) : prove(`grep -nF -e ${quotedText(line)} ${quoted(path)}`);
}

/** Says something as well: a check without a word is not evidence. */
function proveThere(path: string): Verification {
  return prove(`test -f ${quoted(path)} && echo there`);
}

function proveGone(path: string): Verification {
  return prove(`test ! -e ${quoted(path)} && echo gone`);
}

function prove(command: string): Verification {
  return { type: "command", command };
}

function risksOf(steps: readonly Step[]): NonNullable<ContractPlan["risks"]> {
  const runs = steps.some((step) => step.kind === "run");
  const removes = steps.some((step) => step.kind === "delete");
  return [
    ...(runs ? [{ level: "medium" as const, text: "A command may do more than its name says." }] : []),
    ...(removes ? [{ level: "medium" as const, text: "A deleted file is gone unless the repository has it." }] : []),
  ];
}

export function isChange(step: Step): step is ChangeStep {
  return ["replace", "move", "create", "append", "delete"].includes(step.kind);
}

/** As one word of a shell; a path is made such that it cannot be taken for an option. */
function quoted(word: string): string {
  return quotedText(word.startsWith("-") ? `./${word}` : word);
}

function quotedText(word: string): string {
  return /^[\w./@%+=:,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

function oneLine(words: string): string {
  return words.replaceAll(/\s+/g, " ");
}
