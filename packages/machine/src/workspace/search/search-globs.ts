import { expandBraces, matchesName } from "./name-glob.ts";

/** A glob that a caller wrote, in gitignore syntax, as parameter for ripgrep; a leading `!` excludes. */
export function includeParameters(glob: string | undefined): string[] {
  return glob === undefined || glob === ""
    ? []
    : unicodeForms(glob.replace(/^(!?)(?:\.\/)+/, "$1")).map((form) => `--glob=${form}`);
}

/**
 * Globs of what must not be reached, in gitignore syntax relative to the root, as parameters for a search in a directory below
 * the root. Case is ignored, because some file systems find a file by other letters. Excludes more if uncertain.
 *
 * @param base names of the directories from the root down to where the search runs
 */
export function excludeParameters(globs: readonly string[], base: readonly string[]): string[] {
  return globs.flatMap(unicodeForms).flatMap((glob) => rebase(glob, base).map((rebased) => `--iglob=!${rebased}`));
}

/** A file's name may be written in either. */
function unicodeForms(glob: string): readonly string[] {
  return [...new Set([glob, glob.normalize("NFC"), glob.normalize("NFD")])];
}

/** A glob for exactly this name in the directory where the search runs. */
export function exactly(name: string): string {
  return `/${name.replace(/[\\*?[\]{}!]/g, "\\$&")}`;
}

/** What a glob that is relative to the root means below `base`: nothing, one glob, or several (`**` fits in many ways). */
function rebase(glob: string, base: readonly string[]): readonly string[] {
  // A negated glob must not make more reachable.
  if (glob === "" || glob.startsWith("!")) return [];
  const alternatives = expandBraces(glob);
  if (alternatives === undefined) return everything;
  return alternatives.flatMap((alternative) => {
    const body = alternative.replace(/\/+$/, "");
    if (body.includes("/")) return below(alternative.replace(/^\//, "").split("/"), base);
    // Without a slash before its end a glob matches at every depth, so also the directories that lead to the base.
    return body !== "" && base.some((name) => matchesName(body, name)) ? everything : [alternative];
  });
}

function below(segments: readonly string[], base: readonly string[]): readonly string[] {
  const [first, ...others] = segments;
  const [name, ...deeper] = base;
  // The glob names the base or a directory above it: everything here is below what it names.
  if (first === undefined || (first === "" && others.length === 0)) return everything;
  if (name === undefined) return [`/${segments.join("/")}`];
  if (first === "**") return [...below(others.length === 0 ? ["*"] : others, base), ...below(segments, deeper)];
  return matchesName(first, name) ? below(others, deeper) : [];
}

const everything: readonly string[] = ["*"];
