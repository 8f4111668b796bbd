import ignore from "ignore";

export interface IgnoredPaths {
  /** @param path relative to the workspace, with `/` */
  has(path: string): boolean;
  /** Empty unless the text cannot be obeyed; then it ignores everything. */
  readonly problem: string;
}

/** More wildcards than this in a line could take long to match. */
const maxWildcards = 4;
const maxLines = 2000;

/** Reads an `.intentignore`: gitignore's syntax, any letter case. It lists what no intent may edit. */
export function ignoredPaths(text: string): IgnoredPaths {
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  if (lines.length > maxLines) return everything(`has more than ${maxLines} lines; write fewer`);
  const line = lines.findIndex((pattern) => (pattern.match(/\*+/g)?.length ?? 0) > maxWildcards);
  if (line !== -1) return everything(`line ${line + 1}: has more than ${maxWildcards} wildcards; write it simpler`);
  const rules = ignore({ ignorecase: true }).add(lines.map((pattern) => pattern.normalize("NFC")));
  return {
    has(path) {
      const name = path.normalize("NFC");
      if (name === "") return false;
      return !ignore.isPathValid(name) || rules.ignores(name) || rules.ignores(`${name}/`);
    },
    problem: "",
  };
}

/** For a file that is there and cannot be read: nothing may be edited until it is mended. */
export function everything(problem: string): IgnoredPaths {
  return { has: () => true, problem };
}
