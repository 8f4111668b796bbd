import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";

/** What a work tree and its repository hold, by name; equal for two trees that nobody could tell apart but for times. */
export type TreeState = ReadonlyMap<string, string>;

/** Files, modes and links that git does not ignore, the index, and refs by what they hold and say: not by ids, which hold times. */
export function treeState(root: string): TreeState {
  const state = new Map<string, string>();
  const ignored = new Set(ignoredPaths(root));
  const look = (directory: string): void => {
    for (const name of readdirSync(join(root, directory))) {
      const path = directory === "" ? name : `${directory}/${name}`;
      if (name === ".git" || path === ".orchestration" || path === ".gennai" || ignored.has(path)) continue;
      const stat = lstatSync(join(root, path));
      if (stat.isDirectory()) look(path);
      else state.set(path, described(join(root, path)));
    }
  };
  look("");
  for (const line of git(root, "ls-files", "--stage")) state.set(`index ${line.split("\t")[1]}`, line);
  const refs = git(root, "for-each-ref", "--format=%(refname)").filter((name) => name !== "");
  for (const ref of refs) state.set(ref, git(root, "log", "--max-count=50", "--format=%T %an %B", ref).join("\n"));
  state.set(
    "HEAD",
    git(root, "symbolic-ref", "--quiet", "HEAD").join() || git(root, "rev-parse", "HEAD^{tree}").join(),
  );
  state.set("stash", git(root, "stash", "list", "--format=%gs").join("\n"));
  state.set("config", git(root, "config", "--local", "--list").toSorted().join("\n"));
  return state;
}

/** Names whose contents differ. */
export function differences(one: TreeState, other: TreeState): readonly string[] {
  const names = new Set([...one.keys(), ...other.keys()]);
  return [...names].filter((name) => one.get(name) !== other.get(name)).toSorted();
}

function described(path: string): string {
  const stat = lstatSync(path);
  if (stat.isSymbolicLink()) return `link ${readlinkSync(path)}`;
  const mode = (stat.mode & 0o7777).toString(8);
  return stat.isFile() ? `${mode} ${createHash("sha256").update(readFileSync(path)).digest("hex")}` : `other ${mode}`;
}

/** Whole directories by their name. */
function ignoredPaths(root: string): readonly string[] {
  const listed = printed(root, ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"]);
  return listed.split("\0").map((path) => path.replace(/\/$/, ""));
}

function git(root: string, ...args: readonly string[]): readonly string[] {
  return printed(root, args).split("\n").slice(0, -1);
}

/** Nothing where git has nothing to say, like a branch of a repository without commits. */
function printed(root: string, args: readonly string[]): string {
  const env = { ...process.env, GIT_OPTIONAL_LOCKS: "0" };
  const { stdout } = spawnSync("git", args, { cwd: root, encoding: "utf8", env, maxBuffer: 64 * 1024 * 1024 });
  return stdout;
}
