import { isRecord } from "@gennai/protocol/json-value";

/** The part of a plan's action that a person may edit: its command, the file that it writes, or its patch. */
export interface EditableAction {
  readonly field: "command" | "content" | "patch";
  readonly text: string;
  /** Its name alone decides the language of the text. */
  readonly path: string;
}

/** undefined: the plan has no such action. */
export function editableAction(planJson: string, stepId: string, actionIndex: number): EditableAction | undefined {
  const action = actionAt(parsed(planJson), stepId, actionIndex);
  if (action === undefined) return undefined;
  const path = textOf(action["path"]) ?? "";
  for (const [field, language] of [
    ["command", "command.sh"],
    ["content", path],
    ["patch", "patch.diff"],
  ] as const) {
    const text = textOf(action[field]);
    if (text !== undefined) return { field, text, path: language };
  }
  return undefined;
}

/** The plan with a new text in one action. Throws if there is no such action. */
export function withEditedAction(planJson: string, stepId: string, actionIndex: number, text: string): string {
  const plan = parsed(planJson);
  const action = actionAt(plan, stepId, actionIndex);
  const field = editableAction(planJson, stepId, actionIndex)?.field;
  if (action === undefined || field === undefined) throw new Error("The plan has no such action any more.");
  action[field] = text;
  return JSON.stringify(plan);
}

function actionAt(plan: unknown, stepId: string, actionIndex: number): Record<string, unknown> | undefined {
  const steps = member(plan, "steps");
  const step: unknown = Array.isArray(steps) ? steps.find((each) => member(each, "id") === stepId) : undefined;
  const actions = member(step, "actions");
  const action: unknown = Array.isArray(actions) ? actions[actionIndex] : undefined;
  return isRecord(action) ? action : undefined;
}

function parsed(planJson: string): unknown {
  try {
    return JSON.parse(planJson);
  } catch {
    return undefined;
  }
}

function member(value: unknown, name: string): unknown {
  return isRecord(value) ? value[name] : undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
