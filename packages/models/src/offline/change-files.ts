import { type DraftedChanges, draftChange, type FileChange, isGlob } from "./draft-change.ts";
import { bullets, counted, refused, type StepReport } from "./report.ts";
import { type ChangeStep, describeStep, quote } from "./request.ts";
import { callTool, callTools, describeFailure, type ToolRequest, type Work } from "./tool-round.ts";

/** Changes files at once. */
export function* changeFiles(step: ChangeStep): Work<StepReport> {
  const { changes, problems } = yield* draftChange(step, new Map());
  const thought = `Changing ${changes.length === 1 ? changes[0]?.path : counted(changes.length, "file")}.`;
  const replies = yield* callTools(thought, changes.map(callFor));
  const failed = changes.flatMap(({ path }, index) => {
    const failure = replies[index]?.failure;
    return failure === undefined ? [] : [`${path}: ${describeFailure(failure)}`];
  });
  const done = changes.filter((_, index) => replies[index]?.failure === undefined);
  const drafted = { changes, problems: [...problems, ...failed] };
  return reportOf(step, drafted, done.length === 0 ? "" : whatIsDone(step, done));
}

/** Changes that are worked out on paper and proposed in one call; later steps see what earlier ones drafted. */
export class Proposal {
  readonly #draft = new Map<string, FileChange>();
  readonly #steps: string[] = [];

  *add(step: ChangeStep): Work<StepReport> {
    const drafted = yield* draftChange(step, this.#draft);
    addToDraft(this.#draft, drafted.changes);
    if (drafted.changes.length > 0) this.#steps.push(describeStep(step));
    return reportOf(step, drafted, "");
  }

  /** The one call of ProposeChanges, and the result; undefined when nothing would change. */
  *propose(): Work<StepReport | undefined> {
    const changes = [...this.#draft.values()].flatMap(({ path, before, after }) => {
      if (before === after) return [];
      if (after === undefined) return [{ path, operation: "delete" }];
      return [{ path, operation: before === undefined ? "create" : "update", new_content: after }];
    });
    if (changes.length === 0) return undefined;
    const reply = yield* callTool(`Proposing ${counted(changes.length, "change")}.`, "ProposeChanges", { changes });
    if (reply.failure !== undefined) return refused("The proposal was refused, so nothing is proposed", reply.failure);
    const opening = `Proposed ${counted(changes.length, "change")}; nothing is written until you apply them:`;
    const files = bullets(changes.map(({ path, operation }) => `${operation} ${path}`));
    return { ok: true, text: `${opening}\n${files}\n\nWhat they do:\n${bullets(this.#steps)}` };
  }
}

/** Later changes of a file on top of earlier ones. */
export function addToDraft(draft: Map<string, FileChange>, changes: readonly FileChange[]): void {
  for (const change of changes)
    draft.set(change.path, { ...change, before: (draft.get(change.path) ?? change).before });
}

/** @param done what to say of the changes that were made */
export function reportOf(step: ChangeStep, { changes, problems }: DraftedChanges, done: string): StepReport {
  const parts = done === "" ? [] : [done];
  if (problems.length > 0) parts.push(`Not changed:\n${bullets(problems)}`);
  else if (changes.length === 0) parts.push(nothingToDo(step));
  return { ok: problems.length === 0, text: parts.join("\n\n") };
}

function nothingToDo(step: ChangeStep): string {
  if (step.kind !== "replace") return `There is nothing to do to ${describeStep(step)}.`;
  const place = isGlob(step.path) ? `any file that matches ${step.path}` : step.path;
  return `${quote(step.find)} does not occur in ${place}; nothing was changed.`;
}

function callFor({ path, before = "", after }: FileChange): ToolRequest {
  if (after === undefined) return { name: "Delete", args: { file_path: path } };
  if (before === "") return { name: "Write", args: { file_path: path, content: after } };
  return { name: "Edit", args: { file_path: path, old_string: before, new_string: after } };
}

function whatIsDone(step: ChangeStep, done: readonly FileChange[]): string {
  switch (step.kind) {
    case "replace": {
      const counts = done.map(({ before = "" }) => before.split(step.find).length - 1);
      const all = counts.reduce((sum, count) => sum + count, 0);
      const what = `Replaced ${quote(step.find)} with ${quote(step.replacement)} in ${counted(done.length, "file")}`;
      return `${what}, ${counted(all, "occurrence")}:\n${bullets(done.map(({ path }, index) => `${path} (${counts[index]})`))}`;
    }
    case "create":
      return `Created ${step.path} (${counted(lineCount(step.content), "line")}).`;
    case "append":
      return `Appended ${counted(lineCount(step.text), "line")} to ${step.path}.`;
    case "delete":
      return `Deleted ${step.path}.`;
  }
}

/** Of a text that is empty or ends with a newline. */
function lineCount(text: string): number {
  return text.split("\n").length - 1;
}
