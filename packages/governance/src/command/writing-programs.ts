import type { CommandPath } from "./command-analysis.ts";

type Access = CommandPath["access"];

/**
 * What a program that is not a reader does to the files in its words, so that policies see more than `unknown`.
 * A row never makes a command proven: it only sharpens what is known of its paths.
 */
export interface WritingProgram {
  /** Operands but the last. */
  readonly operands: Access;
  /** The last operand, when it differs: the target of a copy. */
  readonly last?: Access;
  /** Operands that are no paths, from the left, e.g. the mode of `chmod`. */
  readonly skip?: number;
  /** Options whose value is a path, and what happens to it. */
  readonly values?: Readonly<Record<string, Access>>;
  /** The option that names the target directory: then every operand is a source. */
  readonly target?: readonly string[];
  /** `name=path` operands, as in `dd`. */
  readonly named?: Readonly<Record<string, Access>>;
}

export const writingPrograms: ReadonlyMap<string, WritingProgram> = new Map(
  Object.entries<WritingProgram>({
    cp: { operands: "read", last: "write", target: ["-t", "--target-directory"] },
    mv: { operands: "delete", last: "write", target: ["-t", "--target-directory"] },
    ln: { operands: "read", last: "write", target: ["-t", "--target-directory"] },
    install: { operands: "read", last: "write", target: ["-t", "--target-directory"] },
    rm: { operands: "delete" },
    rmdir: { operands: "delete" },
    unlink: { operands: "delete" },
    shred: { operands: "delete" },
    srm: { operands: "delete" },
    trash: { operands: "delete" },
    rimraf: { operands: "delete" },
    del: { operands: "delete" },
    touch: { operands: "write", values: { "-r": "read", "--reference": "read" } },
    mkdir: { operands: "write" },
    mkfifo: { operands: "write" },
    mknod: { operands: "write" },
    mktemp: { operands: "write" },
    tee: { operands: "write" },
    sponge: { operands: "write" },
    truncate: { operands: "write", values: { "-r": "read", "--reference": "read" } },
    chmod: { operands: "write", skip: 1 },
    chown: { operands: "write", skip: 1 },
    chgrp: { operands: "write", skip: 1 },
    chattr: { operands: "write", skip: 1 },
    setfacl: { operands: "write" },
    xattr: { operands: "write" },
    dd: { operands: "unknown", named: { if: "read", of: "write" } },
    sort: { operands: "read", values: { "-o": "write", "--output": "write", "-T": "write" } },
    uniq: { operands: "read", last: "write" },
    xxd: { operands: "read", last: "write" },
    sed: { operands: "write" },
    patch: { operands: "write", values: { "-i": "read", "-o": "write", "--output": "write" } },
    split: { operands: "read", last: "write" },
    csplit: { operands: "read", values: { "-f": "write", "--prefix": "write" } },
    rsync: { operands: "read", last: "write" },
    scp: { operands: "read", last: "write" },
    curl: {
      operands: "unknown",
      values: {
        "-o": "write",
        "--output": "write",
        "-T": "read",
        "--upload-file": "read",
        "-K": "read",
        "--config": "read",
        "-D": "write",
        "-c": "write",
        "--cookie-jar": "write",
      },
    },
    wget: {
      operands: "unknown",
      values: {
        "-O": "write",
        "--output-document": "write",
        "-o": "write",
        "-P": "write",
        "--post-file": "read",
        "-i": "read",
      },
    },
    tree: { operands: "list", values: { "-o": "write" } },
    base64: { operands: "read", values: { "-o": "write", "--output": "write", "-i": "read" } },
    mount: { operands: "write" },
    umount: { operands: "write" },
    source: { operands: "read" },
    ".": { operands: "read" },
    less: { operands: "read" },
    more: { operands: "read" },
    gzip: { operands: "delete" },
    gunzip: { operands: "delete" },
    bzip2: { operands: "delete" },
    xz: { operands: "delete" },
    zstd: { operands: "read" },
    tar: { operands: "unknown", values: { "-C": "write", "--directory": "write", "-T": "read" } },
    unzip: { operands: "read", values: { "-d": "write" } },
    zip: { operands: "unknown" },
  }),
);

/** Git subcommands that change files named in their words. */
export const gitPathAccess: ReadonlyMap<string, Access> = new Map([
  ["rm", "delete"],
  ["mv", "delete"],
  ["clean", "delete"],
  ["restore", "write"],
  ["checkout", "write"],
  ["add", "read"],
  ["apply", "unknown"],
]);
