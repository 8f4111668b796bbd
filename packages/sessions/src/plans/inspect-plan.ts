import { buildQuestion } from "@gennai/governance/gate/confirm/build-question";
import type { DecidedCall } from "@gennai/governance/gate/decide/decided-call";
import type { GovernedTools } from "@gennai/governance/gate/gate";
import type { ToolCall } from "@gennai/governance/gate-journal";
import type { PlanPreview } from "@gennai/governance/plan-change";
import { declaredRiskOf, toolOfAction } from "@gennai/governance/step-contract";
import { ask } from "@gennai/governance/verdict";
import { digestOf, sha256Hex } from "@gennai/protocol/digest";
import { highestRisk, type Risk } from "@gennai/protocol/model/governance/risk";
import type { PlannedAction } from "@gennai/protocol/model/session/planned-action";
import type { ParsedPlan, PlanAction } from "@gennai/protocol/plan-schema";
import { chooseScenario } from "../policies/load-scenarios.ts";
import type { Session } from "../session/session.ts";
import { buildTurnGate } from "../turn/turn-gate.ts";
import { InspectedFiles } from "./inspected-files.ts";
import type { SeenCall } from "./plan-answers.ts";
import { previewBasis } from "./preview-basis.ts";

/** The scenario whose tools plans run with. */
export const planRunScenario = "CODE";

/** What approving a plan would mean in this workspace now. */
export interface Inspection {
  readonly actions: readonly PlannedAction[];
  /** Highest risk of each step's actions and verification commands. */
  readonly risks: ReadonlyMap<string, Risk>;
  /** What each action would touch and depend on, by `actionKey`; absent if undecidable. */
  readonly seen: ReadonlyMap<string, SeenCall>;
  /** SHA-256 of every file that file actions name, by path relative to the workspace; undefined: missing. */
  readonly bases: ReadonlyMap<string, string | undefined>;
  /** The first denial, of an action or a verification command; undefined if there is none. */
  readonly denied: string | undefined;
  /** What an approval of this inspection is bound to. */
  readonly preview: PlanPreview;
}

export function actionKey(stepId: string, index: number): string {
  return JSON.stringify([stepId, index]);
}

/** Arguments of the call for an action. @param text new content, for file actions */
export function argumentsOf(action: PlanAction, text = ""): Readonly<Record<string, unknown>> {
  if (action.type !== "command") return { file_path: action.path, content: text };
  return { command: action.command, ...(action.cwd === undefined ? {} : { cwd: action.cwd }) };
}

/**
 * Every action of a plan as it would run now in Branch Mode: decided by the gate, computed in memory. Nothing runs, nothing is
 * written.
 */
export async function inspectPlan(
  session: Session,
  { plan }: ParsedPlan,
  { signal }: { readonly signal: AbortSignal },
): Promise<Inspection> {
  const files = new InspectedFiles(session, signal);
  for (const action of plan.steps.flatMap((step) => step.actions))
    if (action.type !== "command") await files.look(action);
  const { scenario } = await chooseScenario(session, planRunScenario);
  using gate = await buildTurnGate(session, scenario, {
    turnId: "preview",
    modelId: "",
    signal,
    knownFiles: files.known,
    // A plan means the same in whichever mode it was written.
    editingMode: "branch",
  });
  const judge = (name: string, args: unknown, declaredRisk?: Risk) =>
    judgement(gate.tools, { id: "preview", name, argumentsJson: JSON.stringify(args), declaredRisk }, signal);

  const actions: PlannedAction[] = [];
  const risks = new Map<string, Risk>();
  const seen = new Map<string, SeenCall>();
  let denied: string | undefined;
  let unfit: string | undefined;
  let commandsChange = false;
  const note = (stepId: string, { verdict, risk, reason }: Judgement): void => {
    risks.set(stepId, highestRisk([risks.get(stepId) ?? "low", risk]));
    if (verdict === "deny") denied ??= `Step ${JSON.stringify(stepId)}: ${reason}`;
  };
  for (const step of plan.steps) {
    for (const [actionIndex, action] of step.actions.entries()) {
      const worked = action.type === "command" ? undefined : files.workOut(action, `${step.id}/${actionIndex}`);
      const judged = await judge(toolOfAction(action), argumentsOf(action, worked?.judgedText), declaredRiskOf(step));
      note(step.id, judged);
      // The effect of an earlier command is unknown: whether the action fits is decided during the run.
      if (action.type === "command") commandsChange ||= judged.risk !== "low";
      else if (worked?.change.conflict === true && !commandsChange)
        unfit ??= `Step ${JSON.stringify(step.id)}: ${worked.change.warning}`;
      if (judged.seen !== undefined) seen.set(actionKey(step.id, actionIndex), judged.seen);
      const { verdict, risk, rule, reason } = judged;
      actions.push({
        stepId: step.id,
        actionIndex,
        verdict,
        risk,
        rule,
        reason,
        command: action.type === "command" ? action.command : "",
        cwd: (action.type === "command" && action.cwd) || "",
        // What a rule hides from the agent must not be shown by a plan either.
        change: verdict === "deny" ? undefined : worked?.change,
      });
    }
    const verification = [...("verification_plan" in step ? step.verification_plan : []), ...(step.verify ?? [])];
    for (const { command } of verification) note(step.id, await judge("Bash", { command }));
  }
  const shown = { actions: actions.map(shownAction), seen: [...seen].map(shownCall), bases: shownBases(files.bases) };
  const preview: PlanPreview = {
    shownSha256: digestOf(shown),
    ...(await previewBasis(session)),
    policySha256: gate.policySha256,
    ...(denied === undefined ? {} : { denied: await session.services.redactor.redact(denied) }),
    ...(unfit === undefined ? {} : { unfit: await session.services.redactor.redact(unfit) }),
  };
  return { actions, risks, seen, bases: files.bases, denied, preview };
}

/** What the user saw, without the reasons, which only explain it. */
function shownAction({ change, reason: _reason, ...action }: PlannedAction): Readonly<Record<string, unknown>> {
  const { path, operation, newContent, unifiedDiff: diff, baseSha256, conflict } = change ?? {};
  const { command, cwd, ...rest } = action;
  return {
    ...rest,
    command: command || null,
    cwd: cwd || null,
    change:
      change === undefined
        ? null
        : { path, operation, diff, baseSha256, conflict, content: sha256Hex(newContent ?? "") },
  };
}

function shownCall([key, { paths, operands }]: readonly [string, SeenCall]): Readonly<Record<string, unknown>> {
  return { key, paths, operands };
}

function shownBases(bases: Inspection["bases"]): readonly (readonly [string, string | null])[] {
  return [...bases].map(([path, sha256]) => [path, sha256 ?? null] as const);
}

interface Judgement {
  readonly verdict: "allow" | "ask" | "deny";
  readonly risk: Risk;
  readonly rule: string;
  readonly reason: string;
  readonly seen: SeenCall | undefined;
}

async function judgement(tools: GovernedTools, call: ToolCall, signal: AbortSignal): Promise<Judgement> {
  const decided = await tools.decide(call, { turnId: "preview", signal });
  if (decided.type === "invalid") {
    const { code, message, rule } = decided.error;
    return { verdict: "deny", risk: "high", rule: rule ?? `tool/${code}`, reason: message, seen: undefined };
  }
  const { verdict, risk } = decided;
  const finding = verdict.type === "allow" ? undefined : verdict.finding;
  return {
    verdict: verdict.type,
    risk,
    rule: finding?.rule ?? "",
    reason: finding?.reason ?? "",
    seen: { paths: touchedPaths(decided), operands: decided.analysis.operands ?? {} },
  };
}

/** As a question about the call would name them. */
function touchedPaths(decided: DecidedCall & { readonly type: "decided" }): readonly string[] {
  const finding = { code: "plan", rule: "plan", reason: "" };
  const asked = decided.verdict.type === "allow" ? ask(finding) : decided.verdict;
  const context = { turnId: "preview", policySha256: "", intent: undefined };
  return buildQuestion(decided, asked.type === "allow" ? finding : asked.finding, context).computed.paths;
}
