import type { Dirent } from "node:fs";
import { foldName } from "@gennai/governance/command/fold-name";
import type { Looked } from "../../workspace/files/remembered-tree.ts";

/** Files right in git's directory that say what it runs and where its data is. */
const files: ReadonlySet<string> = new Set(["config", "config.worktree", "commondir", "gitdir"]);
/** Directories of which everything counts: what git runs, and what it goes on with. */
const whole: ReadonlySet<string> = new Set(["hooks", "rebase-merge", "rebase-apply", "sequencer"]);
/** Refs in one of their two forms. Only git can tell them apart, so all of it counts. */
const table = "reftable";
const lookedInto: ReadonlySet<string> = new Set([...whole, table, "info", "objects", "modules", "worktrees"]);
const some: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["info", new Set(["attributes", "grafts"])],
  ["objects/info", new Set(["alternates", "http-alternates"])],
]);

/** Where in git's directory a path lies, empty for that one itself; undefined for a path that is not in it. */
export function pathInGit(path: string): string | undefined {
  const parts = path.split("/");
  // Where letter case does not count, git takes `.GIT` as well.
  const at = parts.findLastIndex((part) => foldName(part) === ".git");
  return at < 0 ? undefined : parts.slice(at + 1).join("/");
}

/**
 * Of the names in one of git's directories: what controls it, and where to go on.
 * @param inGit the directory, as `pathInGit` gives it
 */
export function gitControl(inGit: string, entries: readonly Dirent[]): Looked<readonly string[]> {
  const parts = inGit
    .split("/")
    .filter((part) => part !== "")
    .map(foldName);
  const judge = judgeOf(parts);
  return {
    found: entries.filter(({ name }) => judge.counts(foldName(name))).map(({ name }) => name),
    below: entries
      .filter((entry) => entry.isDirectory() && judge.isLookedInto(foldName(entry.name)))
      .map(({ name }) => name),
  };
}

/** What of the folded names in a directory controls git, and which directories are to be looked into. */
interface Judge {
  counts(name: string): boolean;
  isLookedInto(name: string): boolean;
}

const everything = (): boolean => true;

function judgeOf(parts: readonly string[]): Judge {
  const [first, , ...inWorktree] = parts;
  if (first === undefined)
    return {
      counts: (name) => files.has(name) || whole.has(name) || name === table,
      isLookedInto: (name) => lookedInto.has(name),
    };
  if (first === "modules") return ofModules(parts.slice(1));
  if (first === "worktrees") {
    // Each directory in it is one like git's own; its name has no slash.
    return parts.length > 1 ? judgeOf(inWorktree) : { counts: (name) => files.has(name), isLookedInto: everything };
  }
  if (whole.has(first) || first === table) return { counts: everything, isLookedInto: everything };
  const counted = some.get(parts.join("/"));
  return {
    counts: (name) => counted?.has(name) === true,
    isLookedInto: (name) => first === "objects" && parts.length === 1 && name === "info",
  };
}

/**
 * Names of modules may have slashes, and any part in them may be called like one of git's own directories: `a/objects` may
 * be the objects of `a`, or a module. So each directory is looked at as if it were all of these.
 */
function ofModules(parts: readonly string[]): Judge {
  // The first part is a name, or the beginning of one.
  const runs = parts.findLastIndex((part, index) => index > 0 && whole.has(part));
  const isWhole = runs > 0 && !parts.slice(runs).some((part) => data.has(part));
  const counted = new Set([...files, ...whole, ...(parts.at(-1) === "info" ? inInfo : [])]);
  return {
    counts: (name) => counted.has(name) || (isWhole && !data.has(name) && !written.test(name)),
    isLookedInto: everything,
  };
}

const inInfo: readonly string[] = [...some.values()].flatMap((names) => [...names]);

/** What each commit changes, also in a module whose name has `hooks` in it: git runs nothing of these names. */
const data: ReadonlySet<string> = new Set(["objects", "refs", "logs"]);
const written = /^(?:index|packed-refs|(?:[a-z]+_)?head|[a-z]+_(?:editmsg|msg|mode|rr))(?:\.lock)?$/;
