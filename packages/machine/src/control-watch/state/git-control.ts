import type { Dirent } from "node:fs";
import { foldName } from "@gennai/governance/command/fold-name";
import type { Looked } from "../../workspace/files/remembered-tree.ts";

/** Files directly in git's directory that determine what git runs and where its data is. */
const files: ReadonlySet<string> = new Set(["config", "config.worktree", "commondir", "gitdir"]);
/** Directories whose whole content counts: what git runs, and the state of unfinished operations. */
const whole: ReadonlySet<string> = new Set(["hooks", "rebase-merge", "rebase-apply", "sequencer"]);
/** Directory of refs in the reftable format. Only git can read it, so all of it counts. */
const table = "reftable";
const lookedInto: ReadonlySet<string> = new Set([...whole, table, "info", "objects", "modules", "worktrees"]);
const some: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["info", new Set(["attributes", "grafts"])],
  ["objects/info", new Set(["alternates", "http-alternates"])],
]);

/** Path relative to git's directory, empty for the directory itself; undefined for a path outside of it. */
export function pathInGit(path: string): string | undefined {
  const parts = path.split("/");
  // On file systems that ignore case, git accepts `.GIT` as well.
  const at = parts.findLastIndex((part) => foldName(part) === ".git");
  return at < 0 ? undefined : parts.slice(at + 1).join("/");
}

/**
 * Of the names in one of git's directories: those that control git, and the directories to look into.
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

/** Which of the case-folded names in a directory control git, and which directories to look into. */
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
    // Each directory below it is like git's own directory, and its name has no slash.
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
 * Names of modules may contain slashes, and any part may be named like one of git's own directories: `a/objects` may be the
 * objects of `a`, or a module. So each directory is examined as all of these.
 */
function ofModules(parts: readonly string[]): Judge {
  // The first part is a module's name, or the beginning of one.
  const runs = parts.findLastIndex((part, index) => index > 0 && whole.has(part));
  const isWhole = runs > 0 && !parts.slice(runs).some((part) => data.has(part));
  const counted = new Set([...files, ...whole, ...(parts.at(-1) === "info" ? inInfo : [])]);
  return {
    counts: (name) => counted.has(name) || (isWhole && !data.has(name) && !written.test(name)),
    isLookedInto: everything,
  };
}

const inInfo: readonly string[] = [...some.values()].flatMap((names) => [...names]);

/** Directories that each commit changes; git runs nothing in them, even in a module with `hooks` in its name. */
const data: ReadonlySet<string> = new Set(["objects", "refs", "logs"]);
const written = /^(?:index|packed-refs|(?:[a-z]+_)?head|[a-z]+_(?:editmsg|msg|mode|rr))(?:\.lock)?$/;
