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
  /** Nothing in any file changes: directories are made, or permissions set. */
  readonly keepsContent?: true;
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
    ...named("delete", "unlink shred srm trash rimraf del"),
    ...named("write", "mkfifo mknod sponge chattr setfacl xattr mount umount"),
    ...named("list", "dir whereis pathchk fd"),
    ...named("read", "join expand unexpand fmt sum b2sum sha224sum sha384sum readelf base32 less more nm objdump"),
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
    touch: {
      flags: "acmh",
      operands: "write",
      values: { "-r": "read", "--reference": "read" },
      text: "-d --date -t --time",
    },
    mkdir: { flags: "pv", operands: "write", text: "-m --mode", keepsContent: true },
    mktemp: { operands: "write", values: { "-p": "write", "--tmpdir": "write" }, text: "--suffix -t" },
    tee: { flags: "ai", operands: "write" },
    truncate: { operands: "write", values: { "-r": "read", "--reference": "read" }, text: "-s --size" },
    chmod: { flags: "RvfHLP", operands: "write", skip: 1, values: { "--reference": "read" }, keepsContent: true },
    chown: { flags: "RvfhHLP", operands: "write", skip: 1, values: { "--reference": "read" }, keepsContent: true },
    chgrp: { flags: "RvfhHLP", operands: "write", skip: 1, values: { "--reference": "read" }, keepsContent: true },
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
    jq: querying,
    yq: querying,
    awk: { operands: "read", skip: 1, skipUnless: /^-f|^--file/, values: { "-f": "read" }, text: "-F -v" },
  }),
);

/** Git subcommands that change files named in their words. */
export const gitPathAccess: ReadonlyMap<string, Access> = new Map([
  ["mv", "delete"],
  ["clean", "delete"],
  ["add", "read"],
  ["apply", "unknown"],
]);
