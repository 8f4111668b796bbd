import type { DangerRow, OptionSpec, Program, ProgramFiles, ReadingForm } from "./program.ts";
import { hiddenProgram, ofWindows, search } from "./shared-rows.ts";

type Rest = Omit<ReadingForm, "options" | "operands">;

const content = (options: OptionSpec, rest: Rest = {}): ReadingForm => ({ options, operands: "content", ...rest });
const names = (options: OptionSpec, rest: Rest = {}): ReadingForm => ({ options, operands: "names", ...rest });
const text = (options: OptionSpec, rest: Rest = {}): ReadingForm => ({ options, operands: "text", ...rest });
const none = (options: OptionSpec): ReadingForm => ({ options, operands: "none" });

/** `.a.b[].c`, `.`, `.a | keys[]` */
const fieldPath = /^\.(?:[A-Za-z_]\w*(?:\[\d*\])?(?:\.|$|(?= \|)))*(?: \| (?:keys|length)(?:\[\])?)?$/;

/** `{print $1, $2}`; `NR>1 {sum+=$2} END {print sum}`. */
const columns =
  /^(?:\{ ?print \$\d+(?:, ?\$\d+)* ?\}|(?:NR ?> ?\d+ )?\{ ?([a-z]{1,5}) ?\+= ?\$\d+;? ?\} ?END ?\{ ?print \1;? ?\})$/;

/**
 * Programs whose command needs no question where it cannot be staged. To add one: read the manuals of all its versions for options
 * that write, run or connect, and leave those out; `npm run effects -- grammar` runs the result.
 */
const reads = {
  // Content of files.
  cat: content("-n -b -s -e -t -v -A -E -T"),
  head: content("-n= -c= -q -v -#"),
  tail: content("-n= -c= -q -v -#"),
  tac: content(""),
  nl: content("-b= -n= -w= -s= -v= -i="),
  rev: content(""),
  wc: content("-l -w -c -m -L"),
  cut: content("-d= -f= -c= -b= -s --complement"),
  paste: content("-d= -s"),
  comm: content("-1 -2 -3 -#"),
  cmp: content("-s -l -b"),
  diff: content("-u -U= -q -i -w -b -B -y -s", { least: 2, most: 2, below: [] }),
  fold: content("-w= -s"),
  column: content("-t -s="),
  od: content("-c -x -A= -t= -N= -j="),
  xxd: content("-a -b -c= -g= -l= -s= -p -u", { most: 1 }),
  hexdump: content("-C -n= -s="),
  strings: content("-a -n="),
  base64: content("-d -D -w= --decode", { most: 1 }),
  cksum: content(""),
  md5sum: content("-b -t"),
  sha1sum: content("-b -t"),
  sha256sum: content("-b -t"),
  sha512sum: content("-b -t"),
  shasum: content("-a="),
  file: content("-b -i -L --brief --mime --mime-type"),
  sort: content("-b -d -f -g -h -i -M -n -r -s -u -V -z -c -k= -t= --reverse --unique --numeric-sort"),
  uniq: content("-c -d -i -u -f= -s= -w= --count", { most: 1 }),
  // With `-r`, `grep` must be told where.
  grep: content(`${search} -E -r -x -L -P --include=* --exclude= --exclude-dir= --color? --recursive --line-number`, {
    pattern: true,
    below: ["-r", "--recursive"],
  }),
  rg: content(
    `${search} -S -N -x -P -g=* -t= -T= --glob=* --type= --ignore-case --line-number --no-heading --smart-case`,
    {
      pattern: true,
      below: [],
    },
  ),
  "rg --files": names("-g= -t= --glob= --type="),
  // Of the small languages, only forms that select lines, columns and fields.
  sed: content("-n -E", { pattern: true, needs: ["-n"], form: /^(?:\d+|\$)(?:,(?:\d+|\$))?p$/ }),
  awk: content("-F=", { pattern: true, form: columns }),
  jq: content("-r -c -e -S", { pattern: true, form: fieldPath }),
  yq: content("-r", { pattern: true, form: fieldPath }),
  bash: content("-n", { needs: ["-n"], least: 1, most: 1 }),
  // Names of files.
  ls: names("-l -a -A -h -1 -R -t -r -S -d -F -i -s -n -p -G --color? --all --human-readable", { anyOption: true }),
  stat: names("-c= -L -t --format="),
  du: names("-s -h -a -c -k -m -d= --max-depth= --exclude="),
  df: names("-h -k -T -i"),
  tree: names("-a -d -f -h -p -s -L= -I= -P= --dirsfirst --noreport"),
  "unzip -l": names(""),
  realpath: names("-e -m -s"),
  readlink: names("-f -e -m -n"),
  find: names(
    "-name= -iname= -path= -ipath= -type= -maxdepth= -mindepth= -size= -mtime= -mmin= -newer= -empty -not -o -a -print -print0 -prune",
  ),
  test: names("-e -f -d -s -r -w -x -L -h", { most: 1 }),
  "[": names("-e -f -d -s -r -w -x -L -h", { most: 2 }),
  cd: names("", { least: 1, most: 1, form: /^[^-]/ }),
  // Words only.
  basename: text("-a -s="),
  dirname: text(""),
  echo: text("any"),
  printf: text("", { pattern: true, form: /^(?:[^%\\]|%s|\\n|\\t)*$/ }),
  tr: text("-c -d -s"),
  seq: text("-w -s="),
  sleep: text("", { form: /^\d{1,3}(?:\.\d+)?s?$/ }),
  true: none(""),
  false: none(""),
  wait: none(""),
  yes: text("", { most: 1 }),
  which: text("-a"),
  // With a file, it prints that on Windows.
  type: text("-t -a -p -P", { form: /^[\w-]+$/ }),
  command: text("-v -V", { least: 1, needs: ["-v", "-V"] }),
  // Facts of the machine.
  pwd: none("-P -L"),
  date: text("-u -R", { form: /^\+/ }),
  uname: none("-a -s -r -m -n -p -o"),
  arch: none(""),
  nproc: none(""),
  uptime: none("-p -s"),
  whoami: none(""),
  id: text("-u -g -n -G"),
  groups: text(""),
  hostname: none("-s -f"),
  free: none("-h -m -g -k -b -t"),
  ss: none("-t -u -l -n -p -a -4 -6"),
  netstat: none("-t -u -l -n -p -a"),
  lsof: text("-i -n -P", { form: /^(?:tcp|udp)?:\d+$/i, least: 1, needs: ["-i"] }),
  tput: text("", { form: /^(?:cols|lines|colors)$/, least: 1 }),
} satisfies Record<string, ReadingForm>;

/** What a program does to files that only reads them. */
export function filesRead(row: ReadingForm | undefined): ProgramFiles | undefined {
  if (row === undefined) return undefined;
  const { operands, options, pattern } = row;
  return { operands: accesses[operands], options, ...(pattern && { pattern }) };
}

const accesses = { content: "read", names: "list", text: "none", none: "none", revisions: "none" } as const;

/** The row of the grammar, with options that are not for a command that only reads. */
function wider(name: keyof typeof reads, options: OptionSpec, rest: Partial<ProgramFiles> = {}): ProgramFiles {
  const row = filesRead(reads[name]) ?? { operands: "unknown", options: "" };
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

const files: ReadonlyMap<string, ProgramFiles> = new Map([
  ...named(
    "expr exit return break continue shift set read shopt hash unset unalias enable export declare typeset readonly local : wait test [ printf echo",
    "none",
  ),
  ...named("dir whereis pathchk fd", "list"),
  ...named("join expand unexpand fmt sum b2sum sha224sum sha384sum readelf base32 less more nm objdump", "read"),
  ...named("unlink shred srm trash rimraf del", "delete"),
  ...named("mkfifo mknod sponge chattr setfacl xattr", "write"),
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

const tarProgram = [hiddenProgram(/^--(?:to-c|checkpoint-a|use-c|rsh-c|info-s|new-v)|^-[a-zA-Z]*[IF]$/)];
const destroys: readonly DangerRow[] = [
  {
    rule: "floor/destroy-file",
    verdict: "deny",
    reason: "This overwrites files or devices so that nothing can bring them back.",
    held: true,
  },
];

const dangers: readonly (readonly [name: string, rows: readonly DangerRow[]])[] = [
  ["rg", [hiddenProgram(/^--(?:pre|hostname-bin)(?:=|$)/)]],
  ...["sort", "gsort"].map((name) => [name, [hiddenProgram(/^--comp/)]] as const),
  ...["tar", "gtar", "bsdtar"].map((name) => [name, tarProgram] as const),
  ["man", [hiddenProgram(/^-P|^--pager|^-H|^--html/)]],
  ["zip", [hiddenProgram(/^-TT|^--unzip-command/)]],
  ["xargs", [hiddenProgram(/^--process-slot-var=PATH/)]],
  ...["shred", "wipe", "wipefs", "srm"].map((name) => [name, destroys] as const),
  ["del", [ofWindows]],
  ["rmdir", [{ ...ofWindows, any: /^\/[sq]$/i }]],
];

/** What every machine has, for files and text: what only reads, and what changes. */
export const utilities: readonly Program[] = merged();

function merged(): readonly Program[] {
  const programs = new Map<string, Program>();
  const add = (name: string, more: Omit<Program, "names">) =>
    programs.set(name, { names: name, ...programs.get(name), ...more });
  for (const [call, form] of Object.entries<ReadingForm>(reads)) {
    const [name = "", ...words] = call.split(" ");
    add(name, { reads: { ...programs.get(name)?.reads, [words.join(" ")]: form } });
  }
  for (const [name, row] of files) add(name, { files: row });
  for (const [name, rows] of dangers) add(name, { dangers: rows });
  for (const name of "sed gsed patch touch chmod chown chgrp ed ex".split(" ")) add(name, { edits: true });
  for (const name of "bash sed awk grep tar".split(" ")) add(name, { tellsVersion: true });
  return [...programs.values()];
}
