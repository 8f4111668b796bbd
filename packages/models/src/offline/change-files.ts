import { quote, type Step } from "./request/request.ts";
import { countOccurrences, filesWithText, isGlob } from "./rounds/find-files.ts";
import { readFile, readFiles } from "./rounds/read-files.ts";
import { describeFailure, listedLines, type ReplyFailure, type ToolReply } from "./rounds/tool-replies.ts";
import { callTool, noReply, type StepReport, type ToolRequest, type Work } from "./rounds/tool-round.ts";

type StepOf<Kind extends Step["kind"]> = Extract<Step, { readonly kind: Kind }>;

/** Files read and edited in one round. */
const batchSize = 10;

export function* replaceInFiles({ find, replacement, glob }: StepOf<"replace">): Work<StepReport> {
  const found = yield* filesWithText(find, glob);
  if (found.failure !== undefined) return refused(`I could not search ${glob}`, found.failure);
  const edited: string[] = [];
  const failed: string[] = [];
  let occurrences: number | undefined = 0;
  for (let start = 0; start < found.paths.length && failed.length === 0; start += batchSize) {
    const batch = found.paths.slice(start, start + batchSize);
    const outcomes = yield* readFiles(
      batch,
      `Reading ${batch.length === 1 ? batch[0] : `${batch.length} files`} first.`,
    );
    // undefined: something of the file was left out, so nobody knows.
    const targets: { readonly path: string; readonly count: number | undefined }[] = [];
    for (const [index, path] of batch.entries()) {
      const outcome = outcomes[index];
      const { file, failure } = outcome ?? {};
      const count = file?.exact === false ? undefined : countOccurrences(file?.text ?? "", find);
      if (failure !== undefined) failed.push(`${path}: ${describeFailure(failure)}`);
      else if (count !== 0) targets.push({ path, count });
    }
    const edits = targets.map(({ path }) => ({
      path,
      call: { name: "Edit", args: { file_path: path, old_string: find, new_string: replacement, replace_all: true } },
    }));
    const replies = yield* changeWithRetry(edits, `Replacing in ${counted(edits.length, "file")}.`);
    for (const [index, { path, count }] of targets.entries()) {
      const failure = replies[index]?.failure;
      if (failure?.code === "no_match" && count === undefined) continue;
      if (failure !== undefined) failed.push(`${path}: ${describeFailure(failure)}`);
      else {
        edited.push(count === undefined ? path : `${path} (${count})`);
        occurrences = count === undefined || occurrences === undefined ? undefined : occurrences + count;
      }
    }
  }
  const parts: string[] = [];
  if (edited.length > 0) {
    const places = occurrences === undefined ? "at every place" : counted(occurrences, "occurrence");
    const what = `Replaced ${quote(find)} with ${quote(replacement)} in ${counted(edited.length, "file")}, ${places}:`;
    parts.push(`${what}\n${bullets(edited)}`);
  }
  if (failed.length > 0) parts.push(`Not changed:\n${bullets(failed)}`);
  if (parts.length === 0) parts.push(nothingFound(find, glob));
  if (found.notes.length > 0) parts.push(`The search said: ${found.notes.join(" ")}`);
  return { ok: failed.length === 0, text: parts.join("\n\n") };
}

export function* createFile(
  { path, content }: StepOf<"create">,
  { canLook }: { readonly canLook: boolean },
): Work<StepReport> {
  const exists = {
    ok: false,
    text: `${path} exists already, so I left it as it is. Delete it first, or use replace or append.`,
  };
  if (canLook && (yield* isThere(path))) return exists;
  const reply = yield* callTool(`Writing ${path}.`, "Write", { file_path: path, content });
  if (reply.failure?.code === "not_read" || reply.failure?.code === "stale_file") return exists;
  if (reply.failure !== undefined) return refused(`I could not create ${path}`, reply.failure);
  return { ok: true, text: `Created ${path} (${counted(lineCount(content), "line")}).` };
}

/** A look before a file is created, so that nothing is overwritten unseen; when the look fails, the write decides. */
export function* isThere(path: string): Work<boolean> {
  if (isGlob(path)) return false;
  const reply = yield* callTool(`Is there a ${path} already?`, "Glob", { pattern: path });
  return (
    reply.failure === undefined && listedLines(reply.output).lines.some((line) => line.replace(/^\.\//, "") === path)
  );
}

export function* appendToFile({ path, text }: StepOf<"append">): Work<StepReport> {
  for (let attempt = 1; ; attempt += 1) {
    const { file, failure } = yield* readFile(
      path,
      attempt === 1 ? `Reading ${path} first.` : `${path} changed, reading it again.`,
    );
    if (failure !== undefined) return refused(`I could not read ${path}`, failure);
    const call = appendCall(path, file.text, text);
    const reply = yield* callTool(`Adding to the end of ${path}.`, call.name, call.args);
    if (reply.failure === undefined)
      return { ok: true, text: `Appended ${counted(lineCount(text), "line")} to ${path}.` };
    if (!reply.failure.outdated || attempt === 2) return refused(`I could not append to ${path}`, reply.failure);
  }
}

/** An edit of the last lines, as many as it takes to be unique, so that the rest of the file is not sent again. */
function appendCall(path: string, before: string, text: string): ToolRequest {
  if (before === "") return { name: "Write", args: { file_path: path, content: text } };
  const lines = before.split(/(?<=\n)/);
  let tail = "";
  for (const line of lines.toReversed()) {
    tail = line + tail;
    if (tail.trim() !== "" && countOverlapping(before, tail) === 1) break;
  }
  return { name: "Edit", args: { file_path: path, old_string: tail, new_string: joined(tail, text) } };
}

export function joined(before: string, text: string): string {
  return before === "" || before.endsWith("\n") ? before + text : `${before}\n${text}`;
}

export function* deleteFile({ path }: StepOf<"delete">): Work<StepReport> {
  const { failure } = yield* readFile(path, `Reading ${path} before it goes.`);
  if (failure?.code === "not_found") return refused(`I could not delete ${path}`, failure);
  const [reply] = yield* changeWithRetry(
    [{ path, call: { name: "Delete", args: { file_path: path } } }],
    `Deleting ${path}.`,
  );
  if (reply?.failure !== undefined) return refused(`I could not delete ${path}`, reply.failure);
  return { ok: true, text: `Deleted ${path}.` };
}

export function* moveFile({ from, to }: StepOf<"move">): Work<StepReport> {
  const { failure } = yield* readFile(from, `Reading ${from} before it moves.`);
  if (failure?.code === "not_found") return refused(`I could not move ${from}`, failure);
  const [reply] = yield* changeWithRetry(
    [{ path: from, call: { name: "Move", args: { from, to } } }],
    `Moving ${from} to ${to}.`,
  );
  if (reply?.failure !== undefined) return refused(`I could not move ${from} to ${to}`, reply.failure);
  return { ok: true, text: `Moved ${from} to ${to}.` };
}

interface Change {
  readonly path: string;
  readonly call: ToolRequest;
}

/** Makes the calls; those that failed only because the file is not read or changed since are made once more. */
function* changeWithRetry(changes: readonly Change[], thought: string): Work<readonly ToolReply[]> {
  if (changes.length === 0) return [];
  const replies = [...(yield { thought, calls: changes.map((change) => change.call) })];
  const outdated = changes
    .map((change, index) => ({ ...change, index }))
    .filter(({ index }) => replies[index]?.failure?.outdated);
  if (outdated.length === 0) return replies;
  const again = yield* readFiles(
    outdated.map((change) => change.path),
    "Some files changed meanwhile, reading them again.",
  );
  const readable = outdated.filter((_, index) => again[index]?.failure === undefined);
  if (readable.length === 0) return replies;
  const second = yield { thought: "Trying once more.", calls: readable.map((change) => change.call) };
  for (const [index, change] of readable.entries()) replies[change.index] = second[index] ?? noReply;
  return replies;
}

export function refused(what: string, failure: ReplyFailure): StepReport {
  return { ok: false, text: `${what}: ${describeFailure(failure)}` };
}

export function nothingFound(find: string, glob: string): string {
  return `${quote(find)} does not occur in ${isGlob(glob) ? `any file that matches ${glob}` : glob}; nothing was changed.`;
}

export function bullets(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join("\n");
}

export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : noun.endsWith("ch") ? "es" : "s"}`;
}

function lineCount(text: string): number {
  return text === "" ? 0 : text.replace(/\n$/, "").split("\n").length;
}

function countOverlapping(text: string, find: string): number {
  let count = 0;
  for (let at = text.indexOf(find); at !== -1; at = text.indexOf(find, at + 1)) count += 1;
  return count;
}
