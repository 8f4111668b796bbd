import type { Dirent } from "node:fs";
import type { Looked } from "../workspace/remembered-tree.ts";

/** Files right in git's directory that say what it runs and where its data is. */
const files: ReadonlySet<string> = new Set(["config", "config.worktree", "commondir", "gitdir"]);
/** Directories of which everything counts: what git runs, and what it goes on with. */
const whole: ReadonlySet<string> = new Set(["hooks", "rebase-merge", "rebase-apply", "sequencer"]);
const lookedInto: ReadonlySet<string> = new Set([...whole, "info", "objects", "modules", "worktrees"]);
const some: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["info", new Set(["attributes", "grafts"])],
  ["objects/info", new Set(["alternates", "http-alternates"])],
]);

/** Where in git's directory a path lies, empty for that one itself; undefined for a path that is not in it. */
export function pathInGit(path: string): string | undefined {
  const at = `/${path}/`.lastIndexOf("/.git/");
  return at < 0 ? undefined : path.slice(at + ".git/".length);
}

/**
 * Of the names in one of git's directories: what controls it, and where to go on.
 * @param inGit the directory, as `pathInGit` gives it
 */
export function gitControl(inGit: string, entries: readonly Dirent[]): Looked<readonly string[]> {
  const { kind, path } = placeOf(inGit.split("/").filter((part) => part !== ""));
  const names = entries.map(({ name }) => name);
  const below = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  if (kind === "top") {
    return {
      found: names.filter((name) => files.has(name) || whole.has(name)),
      below: path === "" ? below.filter((name) => lookedInto.has(name)) : below,
    };
  }
  if (whole.has(path.split("/")[0] ?? "")) return { found: names, below };
  const found = names.filter((name) => some.get(path)?.has(name));
  return { found, below: path === "objects" ? below.filter((name) => name === "info") : [] };
}

/**
 * Modules and worktrees have directories like git's own, `modules` ones by names with slashes: what is not known to be a
 * part of one may be on the way to one, and is looked at as if it were.
 */
function placeOf(parts: readonly string[]): { readonly kind: "top" | "part"; readonly path: string } {
  const [first = ""] = parts;
  if (first !== "modules" && first !== "worktrees")
    return { kind: first === "" ? "top" : "part", path: parts.join("/") };
  const next = parts.findIndex((part, index) => index > 1 && lookedInto.has(part));
  return next < 0 ? { kind: "top", path: parts.join("/") } : placeOf(parts.slice(next));
}
