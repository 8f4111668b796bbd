import type { CommandPath } from "./command-analysis.ts";
import { type GrammarProgram, grammarPrograms } from "./grammar/grammar-programs.ts";

type Access = CommandPath["access"];

/** The row of a program: its own, or what the grammar says of it. Undefined for one that nobody knows. */
export function programFiles(name: string): ProgramFiles | undefined {
  return programs.get(/^[gmn]awk$/.test(name) ? "awk" : name);
}

const accesses = { content: "read", names: "list", text: "none", none: "none", revisions: "none" } as const;

function ofGrammar({ operands, options }: GrammarProgram): ProgramFiles {
  const entries = options.split(" ");
  const valued = entries.flatMap((entry) => /^(-.+)=/.exec(entry)?.[1] ?? []);
  const flags = entries.flatMap((entry) => (/^-[A-Za-z0-9]$/.test(entry) ? [entry.slice(1)] : []));
  return { operands: accesses[operands], text: valued.join(" "), flags: flags.join("") };
}

function named(operands: ProgramFiles["operands"], names: string): Readonly<Record<string, ProgramFiles>> {
  return Object.fromEntries(names.split(" ").map((name) => [name, { operands }]));
}

/** What a program does to the files in its words, for the rules about paths. That a command only reads is no row's to say. */
export interface ProgramFiles {
  /** Operands but the last; `none` where words are no files. */
  readonly operands: Access | "none";
  /** The last operand, when it differs: the target of a copy. */
  readonly last?: Access;
  /** Operands that are no paths, from the left, e.g. the mode of `chmod`. */
  readonly skip?: number;
  /** Unless one of these options stands there, which takes their place. */
  readonly skipUnless?: RegExp;
  /** Options whose value is a path, and what happens to it. */
  readonly values?: Readonly<Record<string, Access>>;
  /** The option that names the target directory: then every operand is a source. */
  readonly target?: readonly string[];
  /** Options whose value is no path, in one line. */
  readonly text?: string;
  /** Letters of its short options that take no value, in every version of the program; nothing can be joined to them. */
  readonly flags?: string;
  /** With one of these options, operands are what `operands` says here: `install -d` makes directories. */
  readonly instead?: { readonly options: RegExp; readonly operands: Access; readonly keepsContent?: true };
  /** The ending of the file that it makes beside each operand, e.g. `.gz`. */
  readonly adds?: string;
  /** The beginning of the names of the files that it makes, where no operand says another. */
  readonly prefix?: string;
  /** Nothing in any file changes: directories are made, or permissions set. */
  readonly keepsContent?: true;
  /** `name=path` operands, as in `dd`. */
  readonly named?: Readonly<Record<string, Access>>;
}

const searching = {
  operands: "read",
  skip: 1,
  skipUnless: /^-[a-zA-Z]*[ef]|^--(?:regexp|file|files|type-list)/,
  values: { "-f": "read", "--file": "read" },
  text: "-e --regexp -A -B -C -m -d -D --include --exclude --exclude-dir --color --max-count --context",
  flags: "rRnilLcvwoshHqaEFPGxzZ",
} satisfies ProgramFiles;

const editing: ProgramFiles = {
  operands: "read",
  skip: 1,
  skipUnless: /^-[a-zA-Z]*[ef]|^--(?:expression|file)/,
  values: { "-f": "read", "--file": "read" },
  text: "-e --expression -l",
  flags: "nErsuz",
  instead: { options: /^(?:-[a-zA-Z]*i|--in-place)/, operands: "write" },
};

const querying: ProgramFiles = {
  operands: "read",
  skip: 1,
  skipUnless: /^-f|^--from-file/,
  values: { "-f": "read", "--from-file": "read" },
  text: "--indent --arg --argjson",
  flags: "rncesSCMRaj",
  instead: { options: /^(?:-i|--inplace)/, operands: "write" },
};

const programs: ReadonlyMap<string, ProgramFiles> = new Map(
  Object.entries<ProgramFiles>({
    ...Object.fromEntries([...grammarPrograms].map(([name, row]) => [name, ofGrammar(row)])),
    ...named("none", "expr exit return break continue shift set read : wait test [ printf echo"),
    ...named("list", "dir whereis pathchk fd"),
    ...named("read", "join expand unexpand fmt sum b2sum sha224sum sha384sum readelf base32"),
    cp: {
      flags: "aRrfinpvxHLPlsud",
      operands: "read",
      last: "write",
      target: ["-t", "--target-directory"],
      text: "-S --suffix",
    },
    mv: { flags: "finv", operands: "delete", last: "write", target: ["-t", "--target-directory"], text: "-S --suffix" },
    ln: {
      flags: "sfnvLPi",
      operands: "read",
      last: "write",
      target: ["-t", "--target-directory"],
      text: "-S --suffix",
    },
    install: {
      flags: "Cpvs",
      operands: "read",
      last: "write",
      target: ["-t", "--target-directory"],
      text: "-m --mode -o --owner -g --group -S --suffix --strip-program",
      instead: { options: /^(?:-[a-zA-Z]*d|--directory$)/, operands: "write", keepsContent: true },
    },
    rm: { flags: "rRfidvI", operands: "delete" },
    rmdir: { flags: "pv", operands: "delete", keepsContent: true },
    unlink: { operands: "delete" },
    shred: { flags: "fuvxz", operands: "delete" },
    srm: { operands: "delete" },
    trash: { operands: "delete" },
    rimraf: { operands: "delete" },
    del: { operands: "delete" },
    touch: {
      flags: "acmh",
      operands: "write",
      values: { "-r": "read", "--reference": "read" },
      text: "-d --date -t --time",
    },
    mkdir: { flags: "pv", operands: "write", text: "-m --mode", keepsContent: true },
    mkfifo: { operands: "write" },
    mknod: { operands: "write" },
    mktemp: { operands: "write", values: { "-p": "write", "--tmpdir": "write" }, text: "--suffix -t" },
    tee: { flags: "ai", operands: "write" },
    sponge: { operands: "write" },
    truncate: { operands: "write", values: { "-r": "read", "--reference": "read" }, text: "-s --size" },
    chmod: { flags: "RvfHLP", operands: "write", skip: 1, values: { "--reference": "read" }, keepsContent: true },
    chown: { flags: "RvfhHLP", operands: "write", skip: 1, values: { "--reference": "read" }, keepsContent: true },
    chgrp: { flags: "RvfhHLP", operands: "write", skip: 1, values: { "--reference": "read" }, keepsContent: true },
    chattr: { operands: "write", skip: 1, keepsContent: true },
    setfacl: { operands: "write", text: "-m --modify -x --remove", keepsContent: true },
    xattr: { operands: "write" },
    dd: { operands: "unknown", named: { if: "read", of: "write" } },
    sort: {
      flags: "bdfghinRrMVucmsz",
      operands: "read",
      values: { "-o": "write", "--output": "write", "-T": "write" },
    },
    uniq: { flags: "cdDiu", operands: "read", last: "write" },
    xxd: { operands: "read", last: "write" },
    sed: editing,
    gsed: editing,
    grep: searching,
    egrep: searching,
    fgrep: searching,
    rg: { ...searching, text: `${searching.text} -g --glob --iglob -t --type -T --type-not -r --replace` },
    file: { operands: "read", values: { "-f": "read", "-m": "read" }, text: "-F -e -P" },
    jq: querying,
    yq: querying,
    awk: { operands: "read", skip: 1, skipUnless: /^-f|^--file/, values: { "-f": "read" }, text: "-F -v" },
    patch: {
      operands: "write",
      values: { "-i": "read", "-o": "write", "--output": "write" },
      instead: { options: /^--dry-run$/, operands: "read" },
    },
    split: {
      operands: "read",
      last: "write",
      prefix: "x",
      text: "-l -b -C -n -a -t --lines --bytes --number --additional-suffix",
    },
    csplit: {
      operands: "read",
      prefix: "xx",
      values: { "-f": "write", "--prefix": "write" },
      text: "-n --digits -b --suffix-format",
    },
    rsync: {
      flags: "avzrlptgoDnuhPHAXxcqRbS",
      operands: "read",
      last: "write",
      text: "--exclude --include -f --filter --chmod --bwlimit",
      values: { "--exclude-from": "read", "--include-from": "read", "--files-from": "read", "--log-file": "write" },
      // A dry run; behind these letters stands a value.
      instead: { options: /^(?:-[^-efBTM@]*n|--dry-run$)/, operands: "read" },
    },
    scp: {
      flags: "rpvqCB346",
      operands: "read",
      last: "write",
      values: { "-i": "read", "-F": "read" },
      text: "-P -o -c -l -J",
    },
    curl: {
      flags: "fsSLkivIgGNRjaBlnpqOZJ#",
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
    base64: { flags: "d", operands: "read", values: { "-o": "write", "--output": "write", "-i": "read" } },
    mount: { operands: "write" },
    umount: { operands: "write" },
    source: { operands: "read" },
    ".": { operands: "read" },
    less: { operands: "read" },
    more: { operands: "read" },
    gzip: {
      flags: "cdfhklNnqrtv",
      operands: "delete",
      adds: ".gz",
      text: "-S --suffix",
      instead: { options: /^(?:-[a-zA-Z0-9]*[cklt]|--(?:stdout|to-stdout|keep|list|test)$)/, operands: "read" },
    },
    gunzip: {
      flags: "cfhklNnqrtv",
      operands: "delete",
      text: "-S --suffix",
      instead: { options: /^(?:-[a-zA-Z]*[cklt]|--(?:stdout|to-stdout|keep|list|test)$)/, operands: "read" },
    },
    bzip2: {
      flags: "dzkftcqvs",
      operands: "delete",
      adds: ".bz2",
      instead: { options: /^(?:-[a-zA-Z0-9]*[ckt]|--(?:stdout|keep|test)$)/, operands: "read" },
    },
    xz: {
      flags: "zdtlkfcqvh",
      operands: "delete",
      adds: ".xz",
      instead: { options: /^(?:-[a-zA-Z0-9]*[cklt]|--(?:stdout|to-stdout|keep|list|test)$)/, operands: "read" },
    },
    zstd: {
      operands: "read",
      adds: ".zst",
      values: { "-o": "write" },
      instead: { options: /^--rm$/, operands: "delete" },
    },
    tar: {
      flags: "xczvjtpkmJSrZ",
      operands: "unknown",
      values: { "-C": "write", "--directory": "write", "-T": "read" },
      instead: { options: /^--remove-f/, operands: "delete" },
    },
    unzip: { flags: "oqnljtvpuaCLZ", operands: "read", values: { "-d": "write" } },
    zip: {
      flags: "rqjmuvyo9",
      operands: "unknown",
      instead: { options: /^(?:-[a-zA-Z]*m|--move$)/, operands: "delete" },
    },
    nm: { operands: "read" },
    objdump: { operands: "read" },
  }),
);

/** Git subcommands that change files named in their words. */
export const gitPathAccess: ReadonlyMap<string, Access> = new Map([
  ["mv", "delete"],
  ["clean", "delete"],
  ["add", "read"],
  ["apply", "unknown"],
]);
