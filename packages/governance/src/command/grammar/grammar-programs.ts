import type { OptionSpec } from "../words/option-spec.ts";

/** How a program may be called so that it certainly only reads. Anything not in its row is not in the grammar. */
export interface GrammarProgram {
  /** Spelled out in full; `any` where the program prints all its words. */
  readonly options: OptionSpec;
  /**
   * Meaning of its other words: `content`, files that are read; `names`, files that are only listed; `text`, no files; `none`,
   * not allowed. `revisions`: git revisions.
   */
  readonly operands: "content" | "names" | "text" | "none" | "revisions";
  /** The first of them is a pattern, unless an option gave it. */
  readonly pattern?: true;
  /** At least so many besides the pattern; at most so many in all. */
  readonly least?: number;
  readonly most?: number;
  /** With one of these options, or always if the list is empty, it reads everything below a directory, which must be named. */
  readonly below?: readonly string[];
  /** Allowed form of each of them; with a pattern, only that. */
  readonly form?: RegExp;
  /** No option of it, in any version, does more than to choose what is printed. */
  readonly anyOption?: true;
  /** At least one of these options is required. */
  readonly needs?: readonly string[];
}

type Rest = Omit<GrammarProgram, "options" | "operands">;

const content = (options: OptionSpec, rest: Rest = {}): GrammarProgram => ({ options, operands: "content", ...rest });
const names = (options: OptionSpec, rest: Rest = {}): GrammarProgram => ({ options, operands: "names", ...rest });
const text = (options: OptionSpec, rest: Rest = {}): GrammarProgram => ({ options, operands: "text", ...rest });
const none = (options: OptionSpec): GrammarProgram => ({ options, operands: "none" });
const git = (options: OptionSpec, rest: Rest = {}): GrammarProgram => ({ options, operands: "revisions", ...rest });

/** `.a.b[].c`, `.`, `.a | keys[]` */
const fieldPath = /^\.(?:[A-Za-z_]\w*(?:\[\d*\])?(?:\.|$|(?= \|)))*(?: \| (?:keys|length)(?:\[\])?)?$/;

/** `{print $1, $2}`; `NR>1 {sum+=$2} END {print sum}`. */
const columns =
  /^(?:\{ ?print \$\d+(?:, ?\$\d+)* ?\}|(?:NR ?> ?\d+ )?\{ ?([a-z]{1,5}) ?\+= ?\$\d+;? ?\} ?END ?\{ ?print \1;? ?\})$/;

// `-E` takes a value of rg, and none of the others.
const search = "-i -n -l -c -v -w -o -s -q -h -H -a -F -A= -B= -C= -m= -e=!";
const changes =
  "-p -s -z -w -b -n= -# -U= -S= -G= -L= --oneline --graph --all --decorate? --stat? --shortstat --numstat --summary --name-only --name-status --no-patch --patch " +
  "--since= --until= --after= --before= --author= --committer= --grep= --format= --pretty? --date= --reverse --follow --merges --no-merges --first-parent --max-count= --skip= " +
  "--cached --staged --no-ext-diff --no-textconv --no-renames --no-prefix --relative? --color? --no-color --word-diff? --diff-filter= --abbrev-commit --check --topo-order --date-order --exit-code --quiet";
const lists =
  "-a -r -v -l -n? --all --remotes --list --show-current --contains? --merged? --no-merged? --points-at= --format= --sort= --color? --no-color";
const tags = "-n? --contains? --merged? --no-merged? --points-at= --format= --sort= --color? --no-color";
const listing = { most: 0 } as const;

/**
 * Programs whose command needs no question where it cannot be staged. To add one: read the manuals of all its versions for options
 * that write, run or connect, and leave those out; `npm run effects -- grammar` runs the result.
 */
export const grammarPrograms: ReadonlyMap<string, GrammarProgram> = new Map(
  Object.entries({
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
    du: names("-s -h -a -c -k -m -d= --max-depth="),
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
    "apt list": none("--installed --upgradable"),
    tput: text("", { form: /^(?:cols|lines|colors)$/, least: 1 }),
    // Git, in the workspace itself.
    "git status": git(
      "-s -b -z -u? --short --branch --porcelain? --long --show-stash --untracked-files? --ignored? --no-renames",
    ),
    "git diff": git(changes),
    "git log": git(changes),
    "git show": git(changes),
    "git shortlog": git("-s -n -e --summary --numbered --email --since= --until= --no-merges --all"),
    "git blame": git("-L= -w -e -s -l -t -f -n --date= --porcelain"),
    "git describe": git("--tags --all --long --always --abbrev= --match= --exact-match --first-parent"),
    "git rev-parse": git(
      "--short? --abbrev-ref? --verify -q --quiet --show-toplevel --git-dir --is-inside-work-tree --show-prefix --symbolic-full-name --git-common-dir",
    ),
    "git rev-list": git("-n= -# --all --count --oneline --max-count= --since= --no-merges --first-parent --left-right"),
    "git merge-base": git("-a --all --is-ancestor --octopus --fork-point"),
    "git ls-files": git(
      "-c -d -m -o -s -t -z --cached --deleted --modified --others --stage --exclude-standard --full-name --error-unmatch",
    ),
    "git ls-tree": git("-d -r -t -l -z --name-only --full-tree --long"),
    "git check-ignore": git("-v -q -n --verbose --no-index"),
    "git count-objects": git("-v -H", listing),
    "git grep": git(`${search} -E -L -P --cached --line-number --ignore-case --name-only --count`, { pattern: true }),
    "git branch": git(lists, listing),
    "git tag": git(tags, listing),
    "git tag -l": git(tags),
    "git tag --list": git(tags),
    "git remote": git("-v --verbose", listing),
    "git remote get-url": git("--all", { least: 1, most: 1 }),
    "git stash list": git("-n= -# --oneline --stat", listing),
    "git stash show": git("-p --stat --patch --name-only", { most: 1 }),
    "git reflog": git("-n= -# --oneline --date=", listing),
    "git worktree list": git("-v --porcelain", listing),
    // One word is a query; other settings may contain logins.
    "git config": git("--get --local --global --show-origin", {
      least: 1,
      most: 1,
      form: /^(?:user|core|branch|init|pull|push)\.[\w.-]+$/,
    }),
    "git name-rev": git("--tags --name-only"),
    "git for-each-ref": git("--count= --sort= --format= --merged? --contains?"),
    "git clean": git("-n -d -x --dry-run", { needs: ["-n", "--dry-run"] }),
  } satisfies Record<string, GrammarProgram>),
);

/** Programs that may be asked for their version, by nothing but `--version`, `-v`, `-V` or `version`. */
export const versionPrograms: ReadonlySet<string> = new Set(
  "node npm tsc python python3 ruby perl java javac go rustc gcc g++ clang make cmake git bash zsh sed awk grep tar openssl docker kubectl deno bun pnpm yarn cargo php pip pip3 npx".split(
    " ",
  ),
);
