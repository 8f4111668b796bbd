import { type GitObject, gitObject } from "./loose-objects.ts";

/** A tree's entry for a path. */
export interface TreeEntry {
  /** Mode as git writes it, e.g. `100644`. */
  readonly mode: string;
  readonly object: string;
}

interface Directory {
  readonly files: Map<string, TreeEntry>;
  readonly directories: Map<string, Directory>;
  /** Undefined if something below has changed since it was computed. */
  object: string | undefined;
}

/** A tree of git in memory, so that a change of few files needs few new objects. */
export class TreeObjects {
  readonly #root: Directory = emptyDirectory();

  /** Sets the entry at a path, replacing an existing one; undefined removes it. */
  set(path: string, entry: TreeEntry | undefined): void {
    const parents = path.split("/");
    const name = parents.pop() ?? "";
    let directory = this.#root;
    directory.object = undefined;
    for (const parent of parents) {
      let next = directory.directories.get(parent);
      if (next === undefined) {
        next = emptyDirectory();
        directory.directories.set(parent, next);
      }
      next.object = undefined;
      directory = next;
    }
    if (entry === undefined) directory.files.delete(name);
    else directory.files.set(name, entry);
  }

  /** Object id of the whole tree. Passes on new objects, each after those that it refers to. */
  write(take: (object: GitObject) => void): string {
    return write(this.#root, take);
  }
}

function emptyDirectory(): Directory {
  return { files: new Map(), directories: new Map(), object: undefined };
}

function write(directory: Directory, take: (object: GitObject) => void): string {
  if (directory.object !== undefined) return directory.object;
  const entries: { readonly key: Buffer; readonly bytes: Buffer }[] = [];
  const add = (name: string, mode: string, object: string): void => {
    entries.push({
      // Git sorts by bytes, and sorts a directory as if its name ended with a slash.
      key: Buffer.from(mode === "40000" ? `${name}/` : name),
      bytes: Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(object, "hex")]),
    });
  };
  for (const [name, { mode, object }] of directory.files) add(name, mode, object);
  for (const [name, below] of directory.directories) {
    // Git has no empty directories.
    if (hasFiles(below)) add(name, "40000", write(below, take));
  }
  entries.sort((one, other) => one.key.compare(other.key));
  const tree = gitObject("tree", Buffer.concat(entries.map(({ bytes }) => bytes)));
  take(tree);
  directory.object = tree.id;
  return tree.id;
}

function hasFiles({ files, directories }: Directory): boolean {
  return files.size > 0 || directories.values().some(hasFiles);
}
