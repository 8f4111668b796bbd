import { globMatcher } from "@gennai/governance/glob-matcher";
import { redactionMarker } from "@gennai/governance/redaction";
import type { Step } from "./parse-request.ts";
import { call, callAll, failureWords, noReply, type Reply, type Work } from "./work.ts";

export interface FileChange {
  readonly path: string;
  /** undefined: not there. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

export interface DraftedChanges {
  readonly changes: readonly FileChange[];
  /** What cannot be changed, and why; each a line. */
  readonly problems: readonly string[];
}

export function isChange({ verb }: Step): boolean {
  return /^(?:replace|rename|create|append|delete)$/.test(verb);
}

/** Works out what a step changes, and adds it to what earlier ones changed on paper. Reads by tools; changes nothing. */
export function* draftChange(step: Step, draft: Map<string, FileChange>): Work<DraftedChanges> {
  const { verb, path: place } = step;
  const changes: FileChange[] = [];
  const { paths, problems } = isReplacement(step) ? yield* filesWithText(step, draft) : onlyPath(place);
  const onDisk = paths.filter((path) => !draft.has(path));
  const calls = verb === "create" ? [] : onDisk.map((path) => ({ name: "Read", args: { file_path: path } }));
  const replies = yield* callAll(calls);
  for (const path of paths) {
    const drafted = draft.get(path);
    const isThere = drafted === undefined ? verb !== "create" || (yield* isOnDisk(path)) : drafted.after !== undefined;
    const { text, failure } = drafted === undefined ? readText(replies[onDisk.indexOf(path)]) : { text: drafted.after };
    if (isThere === (verb === "create")) {
      problems.push(`${path} ${isThere ? "exists already, so I leave it as it is" : "is gone by an earlier step"}.`);
      // What is deleted need not be text, and need not be seen whole.
    } else if (failure !== undefined && isThere && (verb !== "delete" || failure.code === "not_found")) {
      problems.push(`${path}: ${failureWords(failure)}`);
    } else {
      const change = { path, before: isThere ? (text ?? "") : undefined, after: changed(step, text ?? "") };
      if (change.before === change.after) continue;
      changes.push(change);
      draft.set(path, { ...change, before: (drafted ?? change).before });
    }
  }
  return { changes, problems };
}

function isReplacement({ verb }: Step): boolean {
  return verb === "replace" || verb === "rename";
}

function onlyPath(path: string): { readonly paths: readonly string[]; readonly problems: string[] } {
  return { paths: [path], problems: [] };
}

/** A file as the tool Read shows it, line by line. It fails if something was left out or masked: then it must not be written back. */
function readText({ output, failure }: Reply = noReply): {
  readonly text: string;
  readonly failure?: Reply["failure"];
} {
  const all = output.split("\n");
  const lines = all.flatMap((line) => /^\d+\t([^]*)$/.exec(line)?.[1] ?? []);
  const text = lines.join("\n") + (lines.length === 0 || all.includes("[no newline at end of file]") ? "" : "\n");
  const isExact = !/^\[(?:lines .*offset \d+\]$|cut after )/m.test(output) && !output.includes(redactionMarker);
  const message = "What I could read of it is shortened or masked, so I must not write it back.";
  const why = failure ?? (isExact ? undefined : { code: "", message });
  return why === undefined ? { text } : { text, failure: why };
}

function changed({ verb, text, by }: Step, before: string): string | undefined {
  const added = text === "" || text.endsWith("\n") ? text : `${text}\n`;
  if (verb === "delete") return undefined;
  if (verb === "create") return added;
  if (verb === "append") return before === "" || before.endsWith("\n") ? before + added : `${before}\n${added}`;
  return before.replaceAll(text, () => by);
}

/** What is written unseen must not be there; when the look fails, the write decides. */
function* isOnDisk(path: string): Work<boolean> {
  const { output } = yield* call("Glob", { pattern: path });
  return output.split("\n").some((line) => line.replace(/^\.\//, "") === path);
}

/** The files of a glob that may contain the text, on disk or on paper; a plain path is itself the result. */
function* filesWithText(
  { text, path: glob }: Step,
  draft: ReadonlyMap<string, FileChange>,
): Work<{ readonly paths: readonly string[]; readonly problems: string[] }> {
  if (!isGlob(glob)) return onlyPath(glob);
  // The search goes line by line.
  const [line = ""] = text.split("\n", 1);
  const reply = yield* call("Grep", { pattern: exactly(line), glob, output_mode: "files_with_matches" });
  if (reply.failure !== undefined) return { paths: [], problems: [`${glob}: ${failureWords(reply.failure)}`] };
  const lines = reply.output.split("\n").filter((each) => each.trim() !== "");
  const isNote = (each: string) => /^\[.* .*\]$/.test(each);
  // As the search does it: a glob without a slash matches names at any depth.
  const isMatch = globMatcher(glob.includes("/") ? glob : `**/${glob}`);
  const found = lines.filter((each) => !isNote(each)).map((each) => each.replace(/^\.\//, ""));
  return {
    paths: [...new Set([...found, ...[...draft.keys()].filter((path) => isMatch(path))])],
    problems: lines.filter((each) => isNote(each) && !each.startsWith("[no ")).map((note) => `${glob}: ${note}`),
  };
}

export function isGlob(path: string): boolean {
  return /[*?[\]{}]/.test(path);
}

/** A regular expression that matches just the text. */
export function exactly(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}
