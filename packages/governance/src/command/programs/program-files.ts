import type { CommandPath } from "../command-analysis.ts";
import { grammarPrograms } from "../grammar/grammar-programs.ts";
import { type OptionSpec, parseOptions } from "../words/option-spec.ts";
import { literalWord } from "../words/resolve-word.ts";

type Access = CommandPath["access"];

/**
 * What a program does to the files in its words, for the rules about paths. This table never decides that a command only reads.
 */
export interface ProgramFiles {
  readonly options: OptionSpec;
  /** Operands but the last; `none` where words are no files. */
  readonly operands: Access | "none";
  /** The last operand, when it differs: the target of a copy. */
  readonly last?: Access;
  /** The first operand is no file but e.g. a pattern or a mode, unless an option replaces it. */
  readonly pattern?: true;
  /** No file's content changes: directories are created, or permissions set. */
  readonly keepsContent?: true;
  /** With one of these options, operands are what `operands` says here: `install -d` makes directories. */
  readonly instead?: Pick<ProgramFiles, "operands" | "keepsContent"> & { readonly options: readonly string[] };
}

/** The row of a program: its own, or one derived from the grammar. Undefined if its effect on files is unknown. */
export function programFiles(name: string): ProgramFiles | undefined {
  return programs.get(name);
}

/** Whether a word is a cluster of options without values, for a program with a row. */
export function isOfFlags(program: string, word: string): boolean {
  const { unknown, values } = parseOptions([literalWord(word)], programs.get(program)?.options ?? "");
  return unknown === undefined && values.length === 0;
}

const accesses = { content: "read", names: "list", text: "none", none: "none", revisions: "none" } as const;
const ofGrammar = new Map(
  [...grammarPrograms].map(([name, { operands, options, pattern }]): [string, ProgramFiles] => [
    name,
    { operands: accesses[operands], options, ...(pattern && { pattern }) },
  ]),
);

/** The row of the grammar, with options that are not for a command that only reads. */
function wider(name: string, options: OptionSpec, rest: Partial<ProgramFiles> = {}): ProgramFiles {
  const row = ofGrammar.get(name) ?? { operands: "unknown", options: "" };
  return { ...row, ...rest, options: `${row.options} ${options}` };
}

function named(names: string, operands: ProgramFiles["operands"], options: OptionSpec = ""): [string, ProgramFiles][] {
  return names.split(" ").map((name) => [name, { operands, options }]);
}

const copying = "-t=/ -S= --target-directory=/ --suffix= -f -i -n -v -T --force --no-clobber --verbose";
const sed = wider("sed", "-e=! -f=@ --expression=! --file=@ -i? --in-place? -l= -r -s -u -z", {
  instead: { options: ["-i", "--in-place"], operands: "write" },
});
const grep = wider(
  "grep",
  "-f=@ --file=@ --regexp=! -d= -D= --max-count= --context= -R -b -I -u -U -y -z -Z -T -G --ignore-case",
);
const awk = wider("awk", "-f=@ -v=");
const jq = wider("jq", "-f=@ --from-file=@ --indent= -i --inplace", {
  instead: { options: ["-i", "--inplace"], operands: "write" },
});
const permissions: ProgramFiles = {
  options: "-R -v -f -c -h -H -L -P --reference=@ --recursive",
  operands: "write",
  pattern: true,
  keepsContent: true,
};

const programs: ReadonlyMap<string, ProgramFiles> = new Map<string, ProgramFiles>([
  ...ofGrammar,
  ...named(
    "expr exit return break continue shift set read shopt hash unset unalias enable export declare typeset readonly local : wait test [ printf echo",
    "none",
  ),
  ...named("dir whereis pathchk fd", "list"),
  ...named("join expand unexpand fmt sum b2sum sha224sum sha384sum readelf base32 less more nm objdump", "read"),
  ...named("unlink shred srm trash rimraf del", "delete"),
  ...named("mkfifo mknod sponge chattr setfacl xattr mount umount", "write"),
  ...named("rm", "delete", "-r -R -f -i -d -v -I --recursive --force"),
  ...named("touch", "write", "-a -c -m -h -r=@ --reference=@ -d= --date= -t= --time="),
  ...named("tee", "write", "-a -i --append"),
  ...named("truncate", "write", "-r=@ --reference=@ -s= --size="),
  ...named("mktemp", "write", "-d -q -u -p=> --tmpdir=> --suffix= -t="),
  ["cp", { options: `${copying} -a -R -r -p -x -H -L -P -u -d --recursive`, operands: "read", last: "write" }],
  ["mv", { options: copying, operands: "delete", last: "write" }],
  ["ln", { options: `${copying} -s -r -L -P --symbolic`, operands: "read", last: "write" }],
  [
    "install",
    {
      options: `${copying} -D -d -C -p -s -m= -o= -g= --mode= --owner= --group= --directory`,
      operands: "read",
      last: "write",
      instead: { options: ["-d", "--directory"], operands: "write", keepsContent: true },
    },
  ],
  ["rmdir", { options: "-p -v", operands: "delete", keepsContent: true }],
  ["mkdir", { options: "-p -v -m= --parents --mode=", operands: "write", keepsContent: true }],
  ...["chmod", "chown", "chgrp"].map((name): [string, ProgramFiles] => [name, permissions]),
  ["tree", wider("tree", "-o=>")],
  ["sort", wider("sort", "-o=> --output=> -T=> -c -R -m")],
  ["uniq", wider("uniq", "-D", { last: "write" })],
  ["xxd", wider("xxd", "", { last: "write" })],
  ...["sed", "gsed"].map((name): [string, ProgramFiles] => [name, sed]),
  ...["grep", "egrep", "fgrep"].map((name): [string, ProgramFiles] => [name, grep]),
  ["rg", wider("rg", "-f=@ --file=@ --regexp=! -e=! --iglob=* --type-not= -r= --replace= --color=")],
  ...["awk", "gawk", "mawk", "nawk"].map((name): [string, ProgramFiles] => [name, awk]),
  ...["jq", "yq"].map((name): [string, ProgramFiles] => [name, jq]),
]);
