import { join } from "node:path";
import { statIfPresent } from "@gennai/machine/entries/look-at-entry";
import { MergedView } from "@gennai/machine/entries/merged-view";
import { namesInReal } from "@gennai/machine/entries/names-in";
import { isGitDirectory } from "@gennai/machine/git-data/git-path";
import { decoded } from "@gennai/machine/git-data/git-refs";
import { packedFile, RefValues } from "@gennai/machine/git-data/ref-values";

/** A root, and what a command left in it. */
export interface LeftRoot {
  /** The user's. */
  readonly path: string;
  /** Path by which this process reaches what the command saw. */
  readonly merged: string;
  /** Directory in which only what the command wrote is; for a copy, `merged`. */
  readonly written: string;
  /** For a copy: whether the command wrote a file of `merged`. What the user's has become meanwhile is no change of the command's. */
  readonly wrote?: ((path: string) => Promise<boolean>) | undefined;
}

/**
 * Writes refs and logs that a command left in a repository anew, from their values, before anybody looks at the changes. Each ref
 * that git packed, and whose value changed, is a file of its own again; git's list of packed refs is the user's, without refs
 * that are gone. The log of a ref that moved is the user's with one more line, and any other is the user's. What cannot be read
 * stays as it is, and is judged as such.
 */
export async function closeGit(root: LeftRoot): Promise<void> {
  const git = gitIn(root.path);
  if (git === undefined || statIfPresent(join(root.written, git))?.isDirectory() !== true) return;
  // Each with what it finds.
  await new ClosedGit(root, git).layRefs();
  await new ClosedGit(root, git).writeLogs();
}

function gitIn(root: string): string | undefined {
  if (isGitDirectory(join(root, ".git"))) return ".git";
  return isGitDirectory(root) ? "" : undefined;
}

class ClosedGit {
  readonly #root: LeftRoot;
  readonly #git: string;
  readonly #view: MergedView;
  readonly #before: RefValues;
  readonly #after: RefValues;

  constructor(root: LeftRoot, git: string) {
    this.#root = root;
    this.#git = git;
    this.#view = new MergedView(root.merged);
    this.#before = new RefValues(join(root.path, git));
    this.#after = new RefValues(join(root.merged, git));
  }

  async layRefs(): Promise<void> {
    if (!(await this.#wrote(packedFile))) return;
    const [was, is] = [this.#before.text(packedFile), this.#after.text(packedFile)];
    const [before, after] = [this.#before.packed, this.#after.packed];
    if (was === is || before === undefined || after === undefined) return;
    // No file of such a name can be written here.
    if ([...after.keys()].some((name) => name.includes("\u{fffd}"))) return;
    for (const [name, id] of after) {
      if (this.#after.text(name) !== undefined) continue;
      if (before.get(name) !== id || this.#before.text(name) !== undefined) await this.#write(name, `${id}\n`);
    }
    const isGone = (name: string): boolean => !after.has(name) && this.#after.text(name) === undefined;
    await this.#write(packedFile, was === undefined ? undefined : withoutRefs(was, [...before.keys()].filter(isGone)));
  }

  async writeLogs(): Promise<void> {
    const trees = namesInReal(join(this.#root.written, this.#git, "worktrees")).map((name) => `worktrees/${name}/`);
    for (const tree of ["", ...trees]) {
      for (const name of this.#logsIn(`${tree}logs`)) {
        const file = `${tree}logs/${name}`;
        const [was, is] = [this.#before.text(file), this.#after.text(file)];
        const ref = name === "HEAD" ? `${tree}HEAD` : name;
        // The log of stashes is the stashes.
        if (was === is || is === undefined || name === "refs/stash" || !(await this.#wrote(file))) continue;
        await this.#write(file, this.#after.commit(ref) === undefined ? was : this.#log(ref, was, is));
      }
    }
  }

  async #wrote(inGit: string): Promise<boolean> {
    const path = join(this.#git, inGit);
    if (statIfPresent(join(this.#root.written, path)) === undefined) return false;
    return this.#root.wrote === undefined || (await this.#root.wrote(path));
  }

  /** The user's log, with a line for the move of the ref. */
  #log(ref: string, was: string | undefined, is: string): string | undefined {
    const [from, to] = [this.#before.commit(ref), this.#after.commit(ref) ?? ""];
    const [left, right] = [this.#before.branch(ref), this.#after.branch(ref)];
    const [, who, said = ""] = lastEntry.exec(is) ?? [];
    if (who === undefined || (from === to && left === right)) return was;
    const isSwitch = left !== right && is.slice(is.startsWith(was ?? "") ? was?.length : 0).includes(switched);
    const moved = Buffer.from(`${left ?? from ?? "nothing"} to ${right ?? to}`).toString("latin1");
    const what = isSwitch ? `${switched}${moved}` : said;
    return `${was ?? ""}${from ?? "0".repeat(to.length)} ${to} ${who}\t${what}\n`;
  }

  /** Names of the logs in a directory that the command wrote. */
  #logsIn(directory: string): readonly string[] {
    const found: string[] = [];
    const waiting = [""];
    for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
      for (const name of namesInReal(join(this.#root.written, this.#git, directory, at))) {
        const below = join(at, name);
        const isDirectory =
          statIfPresent(join(this.#root.written, this.#git, directory, below))?.isDirectory() === true;
        (isDirectory ? waiting : found).push(below);
      }
    }
    return found;
  }

  /** @param text latin1; undefined to remove the file */
  async #write(inGit: string, text: string | undefined): Promise<void> {
    const path = join(this.#git, inGit);
    if (text === undefined) return this.#view.remove(path);
    const stat = statIfPresent(join(this.#root.path, path));
    const look = { mode: Number(stat?.mode ?? 0o644n) & 0o777, mtime: Number(stat?.mtimeMs ?? Date.now()) / 1000 };
    await this.#view.write(path, once(Buffer.from(text, "latin1")), look);
  }
}

/** How `git switch -` finds the branch before. */
const switched = "checkout: moving from ";
/** Who and when, and the message, of the last entry of a log. */
const lastEntry = /(?:^|\n)[0-9a-f]+ [0-9a-f]+ ([^<>\n]* <[^<>\n]*> \d+ [+-]\d{4})(?:\t([^\0-\x1f]*))?\n?$/;

/** A text of packed refs without some of them, and without the targets of their tags. */
function withoutRefs(text: string, names: readonly string[]): string {
  const gone = new Set(names);
  let isGone = false;
  const lines = text.split("\n").filter((line) => {
    if (!line.startsWith("^")) isGone = gone.has(decoded(line.slice(line.indexOf(" ") + 1)));
    return !isGone;
  });
  return lines.join("\n");
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(bytes);
}
