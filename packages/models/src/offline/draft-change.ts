import { globMatcher } from "@gennai/governance/glob-matcher";
import type { ChangeStep, StepOf } from "./request.ts";
import { listedLines, readPage } from "./tool-output.ts";
import { callTool, callTools, describeFailure, noReply, type ReplyFailure, type Work } from "./tool-round.ts";

export interface FileChange {
  readonly path: string;
  /** undefined: not there. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** What earlier steps changed on paper, by path. */
type Draft = ReadonlyMap<string, FileChange>;

export interface DraftedChanges {
  readonly changes: readonly FileChange[];
  /** What cannot be changed, and why; each a line. */
  readonly problems: readonly string[];
}

/** Works out what a step changes, on top of a draft. Reads by tools; changes nothing. */
export function* draftChange(step: ChangeStep, draft: Draft): Work<DraftedChanges> {
  if (step.kind === "create") {
    const there = draft.has(step.path) ? draft.get(step.path)?.after !== undefined : yield* isThere(step.path);
    if (there) return { changes: [], problems: [`${step.path} exists already, so I leave it as it is.`] };
    return { changes: [{ path: step.path, before: undefined, after: step.content }], problems: [] };
  }
  const { paths, problems } =
    step.kind === "replace" ? yield* filesWithText(step, draft) : { paths: [step.path], problems: [] };
  const onDisk = paths.filter((path) => !draft.has(path));
  const thought = `Reading ${onDisk.length === 1 ? onDisk[0] : `${onDisk.length} files`} first.`;
  const calls = onDisk.map((path) => ({ name: "Read", args: { file_path: path } }));
  const replies = yield* callTools(thought, calls);
  const changes: FileChange[] = [];
  const failed = [...problems];
  for (const path of paths) {
    const drafted = draft.get(path);
    const { text, failure } = drafted === undefined ? textOf(replies[onDisk.indexOf(path)]) : textAfter(drafted);
    // What is deleted need not be text, and need not be seen whole.
    const fails = failure !== undefined && (step.kind !== "delete" || failure.code === "not_found");
    const after = fails ? text : changed(step, text);
    if (fails) failed.push(`${path}: ${describeFailure(failure)}`);
    else if (after !== text) changes.push({ path, before: text, after });
  }
  return { changes, problems: failed };
}

interface ReadText {
  readonly text: string;
  /** Why it must not be written back. */
  readonly failure?: ReplyFailure | undefined;
}

function textOf({ output, failure } = noReply): ReadText {
  const { text, exact } = readPage(output);
  const message = "What I could read of it is shortened or masked, so I must not write it back.";
  return { text, failure: failure ?? (exact ? undefined : { code: "", message }) };
}

function textAfter({ after }: FileChange): ReadText {
  const message = "The file is gone after an earlier step of this request.";
  return after === undefined ? { text: "", failure: { code: "not_found", message } } : { text: after };
}

function changed(step: Exclude<ChangeStep, { kind: "create" }>, before: string): string | undefined {
  if (step.kind === "delete") return undefined;
  if (step.kind === "replace") return before.replaceAll(step.find, () => step.replacement);
  return before === "" || before.endsWith("\n") ? before + step.text : `${before}\n${step.text}`;
}

/** What is changed unseen must not be there; when the look fails, the write decides. */
function* isThere(path: string): Work<boolean> {
  const reply = yield* callTool(`Is there a ${path} already?`, "Glob", { pattern: path });
  return listedLines(reply.output).lines.some((line) => line.replace(/^\.\//, "") === path);
}

/** The files of a glob that may contain the text; a plain path is itself the result. */
function* filesWithText(
  { find, path: glob }: StepOf<"replace">,
  draft: Draft,
): Work<{ readonly paths: readonly string[]; readonly problems: readonly string[] }> {
  if (!isGlob(glob)) return { paths: [glob], problems: [] };
  // The search goes line by line.
  const [line = ""] = find.split("\n", 1);
  const args = { pattern: escapePattern(line), glob, output_mode: "files_with_matches" };
  const reply = yield* callTool(`Looking for the text in ${glob}.`, "Grep", args);
  if (reply.failure !== undefined) return { paths: [], problems: [`${glob}: ${describeFailure(reply.failure)}`] };
  const { lines, notes } = listedLines(reply.output);
  // As the search does it: a glob without a slash matches names at any depth.
  const isMatch = globMatcher(glob.includes("/") ? glob : `**/${glob}`);
  const paths = new Set([
    ...lines.map((found) => found.replace(/^\.\//, "")),
    ...[...draft.keys()].filter((path) => isMatch(path)),
  ]);
  return { paths: [...paths], problems: notes.map((note) => `what the search left out: ${note}`) };
}

export function isGlob(path: string): boolean {
  return /[*?[\]{}]/.test(path);
}

/** A regular expression that matches just the text. */
export function escapePattern(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}
