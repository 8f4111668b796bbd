/**
 * Options of a program in one line of text, so that tables stay readable: `-n -A= --color? -f=@ -e=! -g=* -#`.
 *
 * - `-n`, `--long`  a flag
 * - `-A=`  takes a value; `--long?` takes one only after `=`
 * - `=@`  the value is a path that is read; `=>` one that is written; `=/` the directory of operands; `=!` the pattern, so
 *   that no operand is one; `=*` a glob of files that are read
 * - `-#`  a number is an option, as in `head -50`
 */
export type OptionSpec = string;

/**
 * What is known of a program, once for all who ask: which of its verbs install, reach a host, deploy or only read. Data only.
 * What is not declared is not known, and whoever asks then takes the strict side.
 */
export interface Program {
  /** All of its names, or of programs that are alike, with blanks between: `pip pip3`. */
  readonly names: string;
  /** By the verb's name and its other spellings: `install i add`. Its first word is a verb then, never a file. */
  readonly verbs?: Readonly<Record<string, Verb>>;
  /** The verb of a call without one. */
  readonly bare?: string;
  /** Any other verb, or name of a package, as the first word. */
  readonly otherwise?: Verb;
  /** Options before the verb of which the next word is the value. */
  readonly valued?: string;
  /** The word behind this option is the program that runs: `python -m pip`. */
  readonly module?: string;
  /** It does nothing without a network, whatever its words. */
  readonly reaches?: true;
  /** Public hosts that its verbs reach. Others stand in settings of the user or the project. */
  readonly hosts?: string;
  /** Names of the files in which a project declares its dependencies. */
  readonly manifests?: string;
  /** File by which a project says that this program runs its scripts. */
  readonly lock?: string;
  /** Files below the home that it reads, which are there for every command without their logins: `.npmrc`. */
  readonly settings?: string;
  /** Its settings are XML, of which a command sees these elements only. */
  readonly shownSettings?: string;
  /** Where the user's logins for its hosts are. */
  readonly logins?: readonly LoginSource[];
  readonly registry?: RegistryUse;
  /** With these words alone, it runs no other program, reads no instructions from a file, and takes packages only from registries. */
  readonly plain?: PlainWords;
  /** How code of fetched packages runs apart from fetching them. */
  readonly apart?: InstallApart | BuildApart;
  readonly deploys?: DeployWords;
  /** What its calls change at the host, by their first words: names of mutations, or method and path in the repository (`*`: one of its words; `WORKFLOW`: one that they name). */
  readonly changes?: Readonly<Record<string, string>>;
  /** Its first operands name a script, a task or a target of the project; which file has them, where that matters. */
  readonly tasks?: true | "package.json";
  /** It runs the program that its words name: a package on demand, in an environment, on another machine. */
  readonly starts?: true;
  readonly dangers?: readonly DangerRow[];
  /** Calls that certainly only read, by the words behind the name; `""`: any others. */
  readonly reads?: Readonly<Record<string, ReadingForm>>;
  /** It may be asked for its version, by nothing but `--version`, `-v`, `-V` or `version`. */
  readonly tellsVersion?: true;
  /** Files that it reads without being told, in which a project says what to run. */
  readonly obeys?: string;
  /** It, or what it starts, may change a part of a file that its words name. */
  readonly edits?: true;
  /** Makefiles are written by it. */
  readonly makefiles?: true;
  /** What it does to the files in its words. Where it is absent, that follows from `reads`. */
  readonly files?: ProgramFiles;
}

export interface Verb {
  /** What it changes in the project: directories of packages and dependencies in manifests, or manifests as a whole. */
  readonly writes?: "packages" | "manifests";
  readonly reaches?: true;
  /** It may need the user's login at the host that it reaches. */
  readonly login?: true;
  /** With plain words, all that it does with a network is what the verb says; `at root`: it obeys settings of its directory. */
  readonly lasting?: true | "at root";
  /** The words behind it name packages or scripts, and no files. */
  readonly names?: true;
  /** What of it runs apart: the scripts of packages; a build; a build, and then the tests or the program that was built. */
  readonly apart?: "install" | "build" | "test" | "run";
  /** It publishes, or changes what others use. */
  readonly deploys?: true;
  /** Of git: it changes nothing, the index neither; it adds commits alone; it puts tracked files where its history has them. */
  readonly tree?: "looks" | "adds" | "moves";
  /** Its words may name branches which it moves, or moves to. */
  readonly refs?: true;
}

export type LoginSource = "npm" | "yarnrc" | "cargo" | "pip.conf" | "git" | "gh";

/** Where the user's own settings have logins for the registries of a program, and what is asked there with them. */
export interface RegistryUse {
  /** Variables (`$NAME`) and files (`~/…`) in which addresses of registries stand, perhaps with a login in them. */
  readonly addresses?: string;
  /** `~/.netrc` has logins for these addresses, and for hosts over https. */
  readonly netrc?: true;
  readonly logins?: readonly LoginTable[];
  /** Paths behind an address by which packages are read. */
  readonly reads: RegExp;
  /** Ends of paths of archives, which an index may have anywhere at its host. */
  readonly archives?: RegExp;
  readonly publishes?: {
    readonly method: "POST" | "PUT";
    /** Path behind an address. */
    readonly path: RegExp;
    /** `files`: each of its files at a path of its own, its checksums beside it, and lists of versions; it reads meanwhile. */
    readonly form: "python-upload" | "archive" | "files";
  };
  /**
   * Variables by which it finds a login, for it reads none of the files. In the values stand `$LOGIN`, `$USER`, `$ADDRESS`; and
   * in the names `$NAME`, for one login each. Otherwise, the login is the first one, or the one that this option names.
   */
  readonly inRun?: { readonly variables: Readonly<Record<string, string>>; readonly option?: string };
}

/** Logins of a file, by a name or host. Tables with the same name are one login. */
export interface LoginTable {
  /** Files (`~/…`, `$NAME/…`), of which the first that there is counts; a variable (`$NAME`) is the text itself. */
  readonly from: string;
  /**
   * `tree`: JSON or YAML; `tables`: TOML as programs write it, or INI; `elements`: XML; `variables`: no file, the fields are
   * variables.
   */
  readonly form: "tree" | "tables" | "elements" | "variables";
  /** Names that lead there; `*` is the name or host: `http-basic *`. Of variables, the name itself; of elements, it is their `id`. */
  readonly at: string;
  /** Names of its fields. Without an address, the name is a host, or stands in `usual`. */
  readonly fields: {
    readonly address?: string;
    readonly user?: string;
    readonly password?: string;
    /** Empty: the value is the token itself. */
    readonly token?: string;
    /** `user:password` in base64. */
    readonly pair?: string;
  };
  /** Addresses of names, where no settings have them. */
  readonly usual?: Readonly<Record<string, string>>;
  /** How a token is said; `Bearer` by default, `user` for a password of the user `__token__`. */
  readonly says?: "plain" | "user";
}

export interface PlainWords {
  readonly flags: RegExp;
  /** Options with a value, joined by `=` or as the next word. */
  readonly values?: string;
  readonly operands: RegExp;
}

/** An install in two runs: packages are fetched without their scripts, which run behind it and without a network. For the shell. */
export interface InstallApart {
  readonly type: "install";
  readonly ways: readonly [InstallWay, ...InstallWay[]];
  /** Prints the version by which the way is chosen; all but the last way say for which. */
  readonly version?: string;
  /** Options with which it runs no scripts anyway; that name another project, or none. */
  readonly runsNone: RegExp;
  readonly elsewhere: RegExp;
  /** What the model is told to run where scripts were left out. */
  readonly rebuild: string;
}

export interface InstallWay {
  /** Pattern of the shell: versions that take this way. */
  readonly versions?: string;
  /** The option without scripts. */
  readonly without: string;
  /** Scripts of all packages and of the project. */
  readonly scripts: string;
  /** Only those of packages, where the install named some. */
  readonly packages?: string;
}

/** A build in two runs: fetching, then compiling without a network, as packages have code that runs meanwhile. */
export interface BuildApart {
  readonly type: "build";
  readonly fetch: string;
  /** Set for fetching, so that settings of the project name no program. For the shell. */
  readonly environment: string;
  readonly offline: string;
  /** It does not fetch then. */
  readonly fetchesNothing: RegExp;
  /** Options that fetching takes as well; the second kind with the next word. */
  readonly passed: RegExp;
  readonly passedWithValue: RegExp;
  /** Options with a value before the words of the program that it runs. */
  readonly values: RegExp;
  /** The verb that builds what another one would run. */
  readonly build: string;
  /** It only builds then. */
  readonly noRun: string;
  /** Examples in comments need the library built, and this option is for running only. */
  readonly examples: { readonly option: string; readonly instead: string };
}

/** Which words make a program publish or deploy. Words that are not known count as such. */
export interface DeployWords {
  /** The verb itself, besides those that say so. */
  readonly verb?: RegExp;
  /** A verb after a noun, as in `app deploy`; any operand may be the verb. */
  readonly anyOperand?: RegExp;
  /** What may follow such a word if it only reads, as in `release list`. */
  readonly unless?: RegExp;
  /** A word of any kind that makes it deploy, e.g. `--push`. */
  readonly option?: RegExp;
  /** It deploys if called without operands. */
  readonly bare?: true;
  /** It deploys only if one of its words names this. */
  readonly target?: RegExp;
}

/** A danger that the words alone show: at least one of them matches `any`, and none `none`. In the reason, `$` is the program. */
export interface DangerRow {
  readonly rule: string;
  readonly verdict: "ask" | "deny";
  readonly reason: string;
  /** A stage holds what it would do. */
  readonly held?: true;
  readonly any?: RegExp;
  readonly none?: RegExp;
  /** One of its words is decided by other commands, or by variables. */
  readonly dynamic?: true;
}

/** How a program may be called so that it certainly only reads. Anything not in its row is not in the grammar. */
export interface ReadingForm {
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

type Access = "list" | "read" | "write" | "delete" | "unknown";

/** What a program does to the files in its words, for the rules about paths. It never decides that a command only reads. */
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
