import { plural } from "@gennai/protocol/plural";
import { draftChange, exactly, type FileChange, isChange, isGlob } from "./draft-change.ts";
import type { Step } from "./parse-request.ts";
import { type Call, call, callAll, failureWords, type Work } from "./work.ts";

/** What is said of a step; `ok`: what follows may be done. */
interface Report {
  readonly ok: boolean;
  readonly text: string;
}

/** Does one step after the other until one fails. @param proposes changes are proposed at the end, in one call */
export function* performSteps(steps: readonly Step[], proposes: boolean): Work<string> {
  const texts: string[] = [];
  const proposed = new Map<string, FileChange>();
  for (const [index, step] of steps.entries()) {
    const { ok, text } = isChange(step)
      ? yield* proposes ? draftStep(step, proposed) : changeFiles(step)
      : yield* lookOrRun(step);
    if (text !== "") texts.push(text);
    if (ok) continue;
    const left = steps.slice(index + 1).map(({ words }) => words);
    if (left.length > 0) texts.push(`Not attempted after that:\n${bullets(left)}`);
    break;
  }
  const changes = [...proposed.values()].filter(({ before, after }) => before !== after);
  if (changes.length > 0) texts.push(yield* propose(changes));
  return texts.join("\n\n");
}

function* draftStep(step: Step, draft: Map<string, FileChange>): Work<Report> {
  const { changes, problems } = yield* draftChange(step, draft);
  return { ok: problems.length === 0, text: changeWords(step, changes.length === 0 ? [] : undefined, problems) };
}

function* changeFiles(step: Step): Work<Report> {
  const { changes, problems } = yield* draftChange(step, new Map());
  const replies = yield* callAll(changes.map(callFor));
  const failures = changes.flatMap(({ path }, index) => {
    const failure = replies[index]?.failure;
    return failure === undefined ? [] : [`${path}: ${failureWords(failure)}`];
  });
  const done = changes.filter((_, index) => replies[index]?.failure === undefined).map(({ path }) => path);
  const all = [...problems, ...failures];
  return { ok: all.length === 0, text: changeWords(step, done, all) };
}

/** @param done paths of what was changed; undefined: nothing is said of it yet */
export function changeWords(
  { verb, words }: Step,
  done: readonly string[] | undefined,
  problems: readonly string[],
): string {
  const verbs: Readonly<Record<string, string>> = { create: "Created", delete: "Deleted" };
  const what = done?.length === 1 ? `${done[0]}.` : `${plural(done?.length ?? 0, "file")}:\n${bullets(done ?? [])}`;
  return [
    ...(done === undefined || done.length === 0 ? [] : [`${verbs[verb] ?? "Changed"} ${what}`]),
    ...(problems.length === 0 ? [] : [`Not changed:\n${bullets(problems)}`]),
    ...(done?.length === 0 && problems.length === 0 ? [`Nothing fits, so nothing was changed: ${words}`] : []),
  ].join("\n\n");
}

function callFor({ path, before = "", after }: FileChange): Call {
  if (after === undefined) return { name: "Delete", args: { file_path: path } };
  if (before === "") return { name: "Write", args: { file_path: path, content: after } };
  return { name: "Edit", args: { file_path: path, old_string: before, new_string: after } };
}

function* propose(drafted: readonly FileChange[]): Work<string> {
  const changes = drafted.map(({ path, before, after }) =>
    after === undefined
      ? { path, operation: "delete" }
      : { path, operation: before === undefined ? "create" : "update", new_content: after },
  );
  const { failure } = yield* call("ProposeChanges", { changes });
  if (failure !== undefined) return `The proposal was refused, so nothing is proposed: ${failureWords(failure)}`;
  const files = bullets(changes.map(({ path, operation }) => `${operation} ${path}`));
  return `Proposed ${plural(changes.length, "change")}; nothing is written until you apply them:\n${files}`;
}

function* lookOrRun(step: Step): Work<Report> {
  if (step.verb === "say") return { ok: true, text: step.text };
  const { name, args } = callOf(step);
  const { output, failure } = yield* call(name, args);
  const ok = failure === undefined;
  // With a code it never ran.
  if (failure !== undefined && (failure.code !== "" || output === ""))
    return { ok, text: `I could not ${step.words}: ${failureWords(failure)}` };
  const lines = output.trimEnd().split("\n");
  const told = lines.filter((line) => !line.startsWith("[for the model:"));
  return { ok, text: `${step.words}:\n${fenced(told)}` };
}

function callOf({ verb, text, path, by }: Step): Call {
  switch (verb) {
    case "show":
      return { name: "Read", args: { file_path: path } };
    case "list":
      return { name: "LS", args: path === "" ? {} : { path } };
    case "find": {
      const where = path === "" ? {} : isGlob(path) ? { glob: path } : { path };
      const [line = ""] = text.split("\n", 1);
      return { name: "Grep", args: { pattern: exactly(line), ...where, output_mode: "content", "-n": true } };
    }
    default:
      return by === ""
        ? { name: "Bash", args: { command: text } }
        : { name: "RunInTerminal", args: { command: text, reveal: true } };
  }
}

const shownLines = 20;

/** A block whose fence cannot be closed by what is inside, with the beginning and the end of a long text. */
function fenced(lines: readonly string[]): string {
  const shown =
    lines.length <= 2 * shownLines ? lines : [...lines.slice(0, shownLines), "…", ...lines.slice(-shownLines)];
  const runs = [...shown.join("\n").matchAll(/`{3,}/g)].map(([run]) => run.length);
  const fence = "`".repeat(Math.max(2, ...runs) + 1);
  return `${fence}\n${shown.join("\n")}\n${fence}`;
}

function bullets(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join("\n");
}
