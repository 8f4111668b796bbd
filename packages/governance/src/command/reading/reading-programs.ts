import type { OptionSpec } from "../option-spec.ts";

/**
 * A program that is known to read only. Whatever is not in its row is not proven, and asks.
 * To add one: read its manual for every option that writes, runs or connects, and leave those out.
 */
export interface ReadingProgram {
  /** Options that only read; `any` when the program has no other kind. */
  readonly options: OptionSpec;
  /** What operands are: files read, names looked at, plain text, or not allowed at all. */
  readonly operands: "content" | "names" | "text" | "none";
  /** The first operand is a pattern or a program text, unless an option gave it. */
  readonly pattern?: true;
  /** At least so many words: with fewer it shows what is not to be shown. */
  readonly atLeast?: number;
  /** At most so many operands: one more would be written to. */
  readonly maximum?: number;
  /** With these options (or `always`) it reads whole trees, hidden files included. */
  readonly recursive?: readonly string[] | "always";
  /** Without a file operand, and recursive, it reads the current directory. */
  readonly defaultsToDirectory?: true;
  /** Text in which the first operand is not proven. */
  readonly refusedPattern?: RegExp;
  /** Words that are not proven, for `any`. */
  readonly refused?: RegExp;
  /** Operands may be anything, also what is not known before it runs: they are only taken apart as text. */
  readonly anyOperand?: true;
}

const content = (options: OptionSpec, more: Partial<ReadingProgram> = {}): ReadingProgram => ({
  options,
  operands: "content",
  ...more,
});
const names = (options: OptionSpec, more: Partial<ReadingProgram> = {}): ReadingProgram => ({
  options,
  operands: "names",
  ...more,
});
const text = (options: OptionSpec, more: Partial<ReadingProgram> = {}): ReadingProgram => ({
  options,
  operands: "text",
  ...more,
});
const plain = (options: OptionSpec): ReadingProgram => ({ options, operands: "none" });

const grepOptions =
  "-i -v -n -r -R -l -L -c -o -w -x -h -H -s -q -a -E -F -P -G -z -Z -I -U -b -T -y -A= -B= -C= -m= -e=! -f=@ -d= -D= -# " +
  "--color? --colour? --include=* --exclude= --exclude-dir= --exclude-from=@ --recursive --dereference-recursive --ignore-case --no-ignore-case " +
  "--line-number --files-with-matches --files-without-match --count --only-matching --word-regexp --line-regexp --no-filename --with-filename " +
  "--no-messages --quiet --silent --text --extended-regexp --fixed-strings --perl-regexp --basic-regexp --null --null-data --invert-match " +
  "--after-context= --before-context= --context= --max-count= --regexp=! --file=@ --binary-files= --line-buffered --initial-tab --byte-offset --label=";

const rgOptions =
  "-i -s -S -v -n -N -l -c -o -w -x -H -I -q -a -F -P -U -0 -L -p -. -u -A= -B= -C= -m= -M= -e=! -f=@ -g=* -t= -T= -r= -d= -E= -j= -# " +
  "--files --files-with-matches --files-without-match --glob=* --iglob=* --type= --type-not= --type-list --ignore-case --smart-case --case-sensitive " +
  "--fixed-strings --word-regexp --line-regexp --invert-match --line-number --no-line-number --count --count-matches --only-matching --no-heading --heading " +
  "--with-filename --no-filename --hidden --no-ignore --no-ignore-vcs --no-messages --color= --colors= --json --max-count= --max-depth= --max-columns= --max-filesize= " +
  "--multiline --multiline-dotall --pcre2 --regexp=! --file=@ --after-context= --before-context= --context= --replace= --sort= --sortr= --stats --trim --vimgrep --null " +
  "--column --pretty --quiet --text --follow --unrestricted --passthru --passthrough --one-file-system --threads= --encoding= --no-config --version --help";

export const readingPrograms: ReadonlyMap<string, ReadingProgram> = new Map(
  Object.entries({
    // Content of files to the output.
    cat: content("any"),
    head: content("any"),
    tail: content("any", { refused: /^(?:-[^-]*[fF]|--f|--retry)/ }),
    tac: content("any"),
    nl: content("any"),
    wc: content("any"),
    rev: content("any"),
    cut: content("any"),
    paste: content("any"),
    join: content("any"),
    comm: content("any"),
    cmp: content("any"),
    fold: content("any"),
    fmt: content("any"),
    expand: content("any"),
    unexpand: content("any"),
    column: content("any"),
    od: content("any"),
    hexdump: content("any"),
    strings: content("any"),
    nm: content("any", { refused: /^--plugin|^@/ }),
    readelf: content("any", { refused: /^@/ }),
    objdump: content("any", { refused: /^--plugin|^@/ }),
    cksum: content("any"),
    sum: content("any"),
    md5: content("any"),
    md5sum: content("any"),
    sha1sum: content("any"),
    sha224sum: content("any"),
    sha256sum: content("any"),
    sha384sum: content("any"),
    sha512sum: content("any"),
    shasum: content("any"),
    b2sum: content("any"),
    diff: content("any", { refused: /^(?:-[^-]*l|--pag)/ }),
    egrep: content(grepOptions, {
      pattern: true,
      recursive: ["-r", "-R", "--recursive", "--dereference-recursive"],
      defaultsToDirectory: true,
    }),
    fgrep: content(grepOptions, {
      pattern: true,
      recursive: ["-r", "-R", "--recursive", "--dereference-recursive"],
      defaultsToDirectory: true,
    }),
    grep: content(grepOptions, {
      pattern: true,
      recursive: ["-r", "-R", "--recursive", "--dereference-recursive"],
      defaultsToDirectory: true,
    }),
    rg: content(rgOptions, {
      pattern: true,
      recursive: ["-.", "--hidden", "-u", "--unrestricted", "--no-ignore"],
      defaultsToDirectory: true,
    }),
    sort: content(
      "-b -d -f -g -h -i -M -n -R -r -s -u -V -z -c -C -m -k= -t= -S= --key= --field-separator= --numeric-sort --reverse --unique --version-sort --human-numeric-sort --ignore-case --stable --zero-terminated --check? --parallel= --buffer-size= --debug",
    ),
    uniq: content(
      "-c -d -D -i -u -z -f= -s= -w= --count --repeated --unique --ignore-case --all-repeated? --zero-terminated --skip-fields= --skip-chars= --check-chars=",
      { maximum: 1 },
    ),
    xxd: content("-a -b -E -e -i -p -ps -u -c= -g= -l= -s= -o= -R=", { maximum: 1 }),
    base64: content("-d -D -i -w= --decode --ignore-garbage --wrap=", { maximum: 1 }),
    base32: content("-d -i -w= --decode --ignore-garbage --wrap=", { maximum: 1 }),
    file: content(
      "-b -i -I -k -L -h -0 -N -r -s -E -F= -f=@ --brief --mime --mime-type --mime-encoding --dereference --no-dereference --keep-going",
    ),
    jq: content(
      "-r -n -c -s -e -S -C -M -R -a -j -f=@ --raw-output --null-input --compact-output --slurp --exit-status --sort-keys --color-output --monochrome-output --raw-input --tab --indent= --join-output --from-file=@ --seq --stream",
      { pattern: true, refusedPattern: /\benv\b|\$ENV|\$__prog|\binput_filename\b.*\bimport\b/ },
    ),
    yq: content(
      "-r -P -C -M -e -N -j -o= -p= -I= --output-format= --input-format= --prettyPrint --colors --no-colors --no-doc --unwrapScalar? --exit-status --raw-output",
      { pattern: true, refusedPattern: /env|load|eval|system|\$ENV/i },
    ),
    // Names and facts, no content.
    ls: names("any"),
    dir: names("any", { refused: /^\// }),
    stat: names("any"),
    du: names("any"),
    df: names("any"),
    basename: names("any", { anyOperand: true }),
    dirname: names("any", { anyOperand: true }),
    realpath: names("any"),
    readlink: names("any"),
    which: names("any"),
    whereis: names("any"),
    pathchk: names("any"),
    type: names("-a -f -p -P -t", { refusedPattern: /[./\\]/, pattern: true }),
    fd: names(
      "-e= -E= -t= -d= -g -i -s -F -a -l -p -L -0 -1 -q -H -I -u -S= --extension= --exclude= --type= --max-depth= --min-depth= --glob --regex --ignore-case --case-sensitive --fixed-strings --absolute-path --full-path --follow --print0 --hidden --no-ignore --unrestricted --max-results= --color= --size= --changed-within= --changed-before=",
      { pattern: true },
    ),
    tree: names(
      "-a -d -f -i -l -x -s -h -D -p -u -g -t -r -c -U -v -n -N -C -A -S -J -X -Q -F -q -L= -I= -P= --noreport --dirsfirst --filesfirst --gitignore --prune --du --si --inodes --device --charset= --sort? --matchdirs --ignore-case --fromfile",
    ),
    test: names("any", { refused: /^-v$/, anyOperand: true }),
    "[": names("any", { refused: /^-v$/, anyOperand: true }),
    // Text in, text out.
    echo: text("any"),
    printf: text("any", { refused: /^-/ }),
    tr: text("-c -C -d -s -t --complement --delete --squeeze-repeats --truncate-set1"),
    seq: text("any"),
    expr: text("any"),
    sleep: text("any"),
    // Facts of the machine.
    pwd: plain("-L -P"),
    true: text("any"),
    false: text("any"),
    ":": text("any"),
    date: {
      options: "-u -R -d= -I? --utc --iso-8601? --rfc-3339= --rfc-email --date= -r=@",
      operands: "text",
      refusedPattern: /^[^+]/,
      pattern: true,
    },
    uname: plain("any"),
    arch: plain("any"),
    nproc: plain("any"),
    uptime: plain("any"),
    whoami: plain("any"),
    id: text("any"),
    groups: text("any"),
    hostname: plain("-s -f -i -I -d -A"),
    free: plain("any"),
    cal: text("any"),
    // Control of the script itself.
    exit: text(""),
    return: text(""),
    break: text(""),
    continue: text(""),
    shift: text(""),
    wait: text(""),
    set: text("-e -u -x -v -f -o=", { atLeast: 1 }),
    read: text("-r -s -e -p= -d= -n= -N= -t= -u= -a="),
  } satisfies Record<string, ReadingProgram>),
);

/** Programs whose `--version`, given alone, only prints. */
export const versionPrograms: ReadonlySet<string> = new Set(
  "node npm tsc python python3 ruby perl java javac go rustc gcc g++ clang make cmake git bash zsh sed awk grep tar openssl docker kubectl deno bun".split(
    " ",
  ),
);

/** Directories that hold the system's own programs: a path to one of them is as good as the bare name. */
export const systemProgramDirectories: ReadonlySet<string> = new Set([
  "/bin",
  "/sbin",
  "/usr/bin",
  "/usr/sbin",
  "/usr/local/bin",
  "/opt/homebrew/bin",
]);
