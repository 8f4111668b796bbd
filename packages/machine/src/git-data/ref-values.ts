import { existsSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { systemErrorCode } from "../system-error.ts";
import { decoded, type GitRefs, readLooseRef, readPackedRefs } from "./git-refs.ts";

/** Name of git's list of packed refs. */
export const packedFile = "packed-refs";
const maxDepth = 5;

/** The refs of one git directory. */
export class RefValues {
  readonly #directory: string;
  #packed: { readonly refs: GitRefs | undefined } | undefined;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** A file's text, as latin1; undefined if there is none. */
  text(inGit: string): string | undefined {
    const path = join(this.#directory, inGit);
    try {
      return lstatSync(path, { throwIfNoEntry: false })?.isFile() === true ? readFileSync(path, "latin1") : undefined;
    } catch (error) {
      // A name like a ref's with more behind it.
      if (systemErrorCode(error) === "ENOTDIR") return undefined;
      throw error;
    }
  }

  /** The value of a ref that is a file of its own. */
  loose(name: string): string | undefined {
    return decoded(readLooseRef(this.text(name) ?? "") ?? "") || undefined;
  }

  /** A ref's value; undefined if there is none, or one that cannot be read. */
  value(name: string): string | undefined {
    return this.text(name) === undefined ? this.packed?.get(name) : this.loose(name);
  }

  /** The id that a ref leads to. */
  commit(name: string, depth = 0): string | undefined {
    const value = this.value(name);
    if (value?.startsWith("ref: ") !== true) return value;
    return depth > maxDepth ? undefined : this.commit(value.slice("ref: ".length), depth + 1);
  }

  /** Names of all refs that begin with this directory, e.g. `refs/heads/`. */
  names(directory: string): readonly string[] {
    const place = join(this.#directory, directory);
    const loose = existsSync(place) ? readdirSync(place, { recursive: true, withFileTypes: true }) : [];
    const files = loose.filter((entry) => !entry.isDirectory());
    const inPlace = files.map(({ parentPath, name }) => relative(this.#directory, join(parentPath, name)));
    return [...new Set([...inPlace, ...(this.packed?.keys() ?? [])])].filter((name) => name.startsWith(directory));
  }

  /** The branch that a symbolic ref leads to, in short. */
  branch(name: string): string | undefined {
    return /^ref: refs\/heads\/(.+)$/.exec(this.value(name) ?? "")?.[1];
  }

  /** The refs in git's list; undefined if it cannot be read. */
  get packed(): GitRefs | undefined {
    this.#packed ??= { refs: readPackedRefs(this.text(packedFile) ?? "") };
    return this.#packed.refs;
  }
}
