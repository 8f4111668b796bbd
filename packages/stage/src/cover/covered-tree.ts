import { type Dirent, lstatSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { controlPath } from "@gennai/governance/policies/files/control-paths";
import { systemErrorCode } from "@gennai/machine/system-error";
import { RememberedTree } from "@gennai/machine/workspace/files/remembered-tree";
import { isWithin } from "@gennai/protocol/is-within";
import { type FileNames, fileNames, LinkedFiles } from "../sandbox/cover/linked-files.ts";
import { SecretTargets } from "../sandbox/cover/secret-targets.ts";
import { secretLinks, zeroAccessFiles } from "../sandbox/cover/zero-access-files.ts";
import { StageUnavailable } from "../transaction/stage-error.ts";
import { mayHoldLogin, withoutLogins } from "./without-logins.ts";

/** What a command must not see of a root. Paths are relative to the root, with `/`. */
export interface Covered {
  /** Files and directories that do not exist for the command. */
  readonly hidden: readonly string[];
  /** Directories that do not exist for the command because their names are not UTF-8, so that nobody could say what is in them. */
  readonly unnamed?: readonly Buffer[] | undefined;
  /** Files that the command sees without their logins, by path: the remaining bytes. */
  readonly copies: ReadonlyMap<string, Uint8Array>;
  /** Git's index, if it tracks hidden files: as the command sees it, where git is told to leave them alone. */
  readonly index?: { readonly path: string; readonly bytes: Uint8Array } | undefined;
  /** True if the root itself must not be seen: what one process reads from a pipe is lost to others; `unnamed` is to be hidden. */
  readonly holdsSpecial?: boolean;
  /** Whether the root had an entry at the last look, right before the command. */
  readonly wasThere?: ((path: string) => boolean) | undefined;
  /** Of the names in a directory: those that are new since the last look, and would have been hidden. */
  readonly hiddenSince?: ((directory: string, names: readonly string[]) => readonly string[]) | undefined;
}

/** A rule's verdict on a path; relative to the root, with `/`. */
type IsZeroAccess = (path: string, kind: "file" | "directory") => boolean;

/** What is hidden besides files with the names of secrets. */
export interface CoverRules {
  readonly isZeroAccess?: IsZeroAccess | undefined;
  /** Absolute paths, of which those below a root count. */
  readonly always?: readonly string[];
  /** Private directory for what links named as secrets led to; without it that is forgotten with the process. */
  readonly targets?: string | undefined;
}

interface Found extends ControlLeads {
  readonly secrets: readonly string[];
  readonly secretLinks: readonly string[];
  readonly closed: readonly string[];
  readonly logins: readonly string[];
  readonly holdsSpecial: boolean;
  /** All entries, separated by NUL: one string takes a fraction of the memory of many. */
  readonly names: string;
}

/** What in a root leads to files that tools obey under other names. Absolute paths. */
export interface ControlLeads {
  /** Symbolic links with the names of files that tools obey. */
  readonly links: readonly string[];
  /** Git configuration files. */
  readonly configurations: readonly string[];
}

/** Looks through a root before each command, all of it; what did not change since the last look is remembered. */
export class CoveredTree {
  readonly #root: string;
  readonly #isZeroAccess: IsZeroAccess;
  readonly #always: readonly string[];
  readonly #tree: RememberedTree<Found>;
  /** Made only when a hidden file has more than one name: that takes a look at every file. */
  #links: LinkedFiles | undefined;
  #directories: readonly string[] = [];
  /** What links named as secrets led to: a command may have removed such a link. */
  readonly #targets = new Set<string>();
  /** The same targets, also those from before a restart. */
  readonly #kept: SecretTargets | undefined;
  #leads: ControlLeads = { links: [], configurations: [] };

  /**
   * @param root real path
   * @param rules what is zero-access besides the built-in names. Throws `UnprotectedWorkspace`, as `SecretTargets` does.
   */
  constructor(root: string, { isZeroAccess = () => false, always = [], targets }: CoverRules = {}) {
    this.#root = root;
    this.#kept = targets === undefined ? undefined : new SecretTargets(targets);
    this.#always = always.filter((path) => path !== root && isWithin(path, { directory: root }));
    this.#isZeroAccess = isZeroAccess;
    this.#tree = new RememberedTree(root, (directory, entries) => this.#look(directory, entries));
  }

  /** The leads, as of the last look. */
  get leads(): ControlLeads {
    return this.#leads;
  }

  /**
   * Throws `StageUnavailable` and `UnprotectedWorkspace` rather than leave anything out. One look at a time.
   * @param pause awaited between small steps
   */
  async look(pause: () => Promise<void>): Promise<Covered> {
    const { found, unreadable, unlisted, same } = await this.#tree.walkPausing(pause);
    const first = unlisted.find((path) => !path.includes("\uFFFD"));
    if (first !== undefined) {
      throw new StageUnavailable(
        "overlay_refused",
        `${first.slice(0, 300)} cannot be looked into: its path is too long.`,
        "Move or remove it.",
      );
    }
    const unnamed = [...new Set(unlisted.map((path) => dirname(path)))].flatMap((directory) =>
      unnamedIn(directory, relative(this.#root, directory)),
    );
    if (!same) this.#links = undefined;
    this.#directories = [...found.keys()];
    const there = this.#always.filter((path) => lstatSync(path, { throwIfNoEntry: false }) !== undefined);
    const hidden = new Set([...unreadable, ...there]);
    const logins: string[] = [];
    const all = [...found.values()];
    this.#leads = {
      links: all.flatMap(({ links }) => links),
      configurations: all.flatMap(({ configurations }) => configurations),
    };
    for (const { secrets, secretLinks: links, closed, logins: some } of all) {
      for (const path of closed) hidden.add(path);
      for (const path of secrets) this.#targets.add(path);
      // The target of a link can change while the link's own directory does not.
      for (const link of links) for (const target of this.#targetOf(link)) this.#kept?.add(target, link);
      logins.push(...some);
    }
    for (const path of this.#kept?.paths() ?? []) this.#targets.add(path);
    for (const path of this.#targets) for (const name of await this.#allNames(path, pause)) hidden.add(name);
    const copies = new Map<string, Uint8Array>();
    for (const path of logins) {
      const copy = copyOf(path);
      if (copy === undefined) continue;
      hidden.delete(path);
      copies.set(relative(this.#root, path), copy);
      // Another name of the file would show what the copy leaves out.
      for (const name of await this.#allNames(path, pause)) if (name !== path) hidden.add(name);
    }
    const wasThere = (path: string): boolean => {
      const names = found.get(join(this.#root, dirname(path)))?.names ?? "";
      return names.includes(`\0${basename(path)}\0`);
    };
    const hiddenSince = (directory: string, names: readonly string[]): readonly string[] => {
      const there = new Set(found.get(join(this.#root, directory))?.names.split("\0"));
      const appeared = new Set(names.filter((name) => !there.has(name)));
      return appeared.size === 0 ? [] : this.#hiddenAmong(join(this.#root, directory), appeared);
    };
    const relativePaths = withoutNested([...hidden]).map((path) => relative(this.#root, path));
    const holdsSpecial = unnamed.length > 0 || all.some((one) => one.holdsSpecial);
    return { hidden: relativePaths, unnamed, copies, holdsSpecial, wasThere, hiddenSince };
  }

  /** Names to hide, also of files that would need a copy without logins. All names where the directory can no longer be read. */
  #hiddenAmong(directory: string, names: ReadonlySet<string>): readonly string[] {
    try {
      const entries = readdirSync(directory, { withFileTypes: true }).filter(({ name }) => names.has(name));
      const { secrets, secretLinks: links, closed, logins } = this.#look(directory, entries).found;
      const found = [...secrets, ...links, ...closed, ...logins];
      return found.filter((path) => dirname(path) === directory).map((path) => basename(path));
    } catch (error) {
      if (systemErrorCode(error) === undefined) throw error;
      return [...names];
    }
  }

  #look(directory: string, entries: readonly Dirent[]) {
    const pathOf = ({ name }: Dirent) => join(directory, name);
    const isHidden = (entry: Dirent, kind: "file" | "directory") =>
      this.#isZeroAccess(relative(this.#root, pathOf(entry)), kind);
    const directories = entries.filter((entry) => entry.isDirectory());
    const closed = directories.filter((entry) => isHidden(entry, "directory"));
    const named = entries.filter((entry) => !entry.isDirectory() && isHidden(entry, "file"));
    const inGit = entries.some(({ name }) => name === "HEAD");
    return {
      found: {
        secrets: [...zeroAccessFiles(this.#root, entries), ...named.flatMap((entry) => this.#targetOf(pathOf(entry)))],
        secretLinks: secretLinks(this.#root, entries),
        closed: closed.map(pathOf),
        links: entries.filter((entry) => entry.isSymbolicLink() && this.#isControl(pathOf(entry))).map(pathOf),
        configurations: entries.filter(({ name }) => inGit && /^config(?:\.worktree)?$/i.test(name)).map(pathOf),
        logins: entries.filter((entry) => entry.isFile() && mayHoldLogin(pathOf(entry), inGit)).map(pathOf),
        holdsSpecial: entries.some((entry) => !entry.isFile() && !entry.isDirectory() && !entry.isSymbolicLink()),
        names: `\0${entries.map(({ name }) => name).join("\0")}\0`,
      },
      below: directories.filter((entry) => !closed.includes(entry)).map(({ name }) => name),
    };
  }

  #isControl(path: string): boolean {
    return controlPath(relative(this.#root, path)) !== undefined;
  }

  #targetOf(path: string): readonly string[] {
    try {
      const target = realpathSync(path);
      return isWithin(target, { directory: this.#root }) ? [target] : [];
    } catch {
      return [];
    }
  }

  /** All names of an existing file. */
  async #allNames(path: string, pause: () => Promise<void>): Promise<readonly string[]> {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat?.isFile() !== true) return stat?.isDirectory() ? [path] : [];
    if (stat.nlink === 1) return [path];
    this.#links ??= await linkedFiles(this.#directories, pause);
    return [path, ...this.#links.namesOf(path)];
  }
}

/** Subdirectories whose names are not UTF-8. @param path of the directory, from the root */
function unnamedIn(directory: string, path: string): readonly Buffer[] {
  return readdirSync(directory, { encoding: "buffer", withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name.toString().includes("\uFFFD"))
    .map(({ name }) => Buffer.concat([Buffer.from(path === "" ? "" : `${path}/`), name]));
}

async function linkedFiles(directories: readonly string[], pause: () => Promise<void>): Promise<LinkedFiles> {
  const names: [string, FileNames][] = [];
  for (const directory of directories) {
    names.push([directory, namesIn(directory)]);
    await pause();
  }
  return new LinkedFiles(names);
}

function namesIn(directory: string): FileNames {
  try {
    return fileNames(readdirSync(directory, { withFileTypes: true }));
  } catch (error) {
    // The file was removed meanwhile, with all its names.
    if (systemErrorCode(error) === "ENOENT" || systemErrorCode(error) === "ENOTDIR") return { all: [], linked: [] };
    throw error;
  }
}

/** The file without its logins; undefined if it contains none. */
function copyOf(path: string): Uint8Array | undefined {
  try {
    return withoutLogins(path, readFileSync(path));
  } catch {
    // The file is gone, or may not be read.
    return undefined;
  }
}

function withoutNested(paths: readonly string[]): readonly string[] {
  const all = new Set(paths);
  return paths.filter((path) => {
    for (let at = path.lastIndexOf("/"); at > 0; at = path.lastIndexOf("/", at - 1)) {
      if (all.has(path.slice(0, at))) return false;
    }
    return true;
  });
}
