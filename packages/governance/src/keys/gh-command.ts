import { verbOf } from "../programs/known-programs.ts";

/** A command of GitHub's that speaks to it. */
export interface GhCommand {
  readonly type: "gh";
  /** All behind `gh`. */
  readonly words: readonly string[];
  /** The server that it names itself, e.g. by `--repo git.example/o/r`. */
  readonly host: string | undefined;
}

/** Undefined for other groups, and for anything that leads git to unchecked programs or repositories. */
export function ghCommand(words: readonly string[]): GhCommand | undefined {
  const [group = "", verb = ""] = words;
  if (verbOf("gh", [group])?.verb.login !== true) return undefined;
  // Arguments after it go to git, whose settings name programs.
  if (words.includes("--")) return undefined;
  // In each submodule, git follows that one's settings.
  if (words.some((word) => word.startsWith("--recurse-submodules"))) return undefined;
  if (group === "repo" && verb === "create" && words.some((word) => /^(?:--source|-[a-z]*s)/i.test(word)))
    return undefined;
  const repository = valueOf(words, ["-R", "--repo"]);
  const [host, , name] = repository?.replace(/^https:\/\//, "").split("/") ?? [];
  return { type: "gh", words, host: valueOf(words, ["--hostname"]) ?? (name === undefined ? undefined : host) };
}

function valueOf(words: readonly string[], names: readonly string[]): string | undefined {
  for (const [index, word] of words.entries()) {
    if (names.includes(word)) return words[index + 1];
    for (const name of names) {
      if (name.startsWith("--") && word.startsWith(`${name}=`)) return word.slice(name.length + 1);
      if (!name.startsWith("--") && word.startsWith(name)) return word.slice(name.length).replace(/^=/, "");
    }
  }
  return undefined;
}
