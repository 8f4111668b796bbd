import picomatch from "picomatch";
import { listedLines, type ReplyFailure } from "./tool-replies.ts";
import { callTool, type Work } from "./tool-round.ts";

export type FoundFiles =
  | { readonly paths: readonly string[]; readonly notes: readonly string[]; readonly failure?: undefined }
  | { readonly failure: ReplyFailure };

/** The files of a glob that may contain `text`; a plain path is itself the result. */
export function* filesWithText(text: string, glob: string): Work<FoundFiles> {
  if (!isGlob(glob)) return { paths: [glob], notes: [] };
  const thought = `Looking for the text in ${glob}.`;
  // The search goes line by line: a text of several lines needs a look into every file.
  const reply = text.includes("\n")
    ? yield* callTool(thought, "Glob", { pattern: glob })
    : yield* callTool(thought, "Grep", { pattern: escapePattern(text), glob, output_mode: "files_with_matches" });
  if (reply.failure !== undefined) return { failure: reply.failure };
  const { lines, notes } = listedLines(reply.output);
  const paths = lines.map((line) => line.replace(/^\.\//, ""));
  return { paths, notes: notes.filter((note) => note !== "[no matches]" && note !== "[no files found]") };
}

export function isGlob(path: string): boolean {
  return /[*?[\]{}]/.test(path);
}

/** As the search does it: a glob without a slash matches names at any depth. */
export function globMatches(glob: string, path: string): boolean {
  return picomatch.isMatch(path, glob, { dot: true, basename: !glob.includes("/") });
}

/** A regular expression that matches just the text. */
export function escapePattern(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

export function countOccurrences(text: string, find: string): number {
  return text.split(find).length - 1;
}
