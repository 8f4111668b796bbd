import { quotedCommand } from "../command/quoted-command.ts";
import { oneCommand } from "../keys/one-command.ts";

/** An install in two runs. */
export interface SplitInstall {
  /** For the shell: the first, which may reach a registry and runs no script of any package. */
  readonly fetch: string;
  /** For the shell: the scripts that it left out, as the package manager would have run them. Undefined where it was to run none. */
  readonly scripts: string | undefined;
  /** For the shell: what the workspace itself wants to run behind both. It may have the network of the first run, if that did not use it. */
  readonly program?: string;
}

/**
 * Splits an install by npm, pnpm or yarn, or a build by cargo, that is a command of its own; undefined for anything else. Code
 * from packages runs in a separate step, never with network access.
 */
export function splitInstall(text: string): SplitInstall | undefined {
  const words = oneCommand(text);
  if (words === undefined) return undefined;
  const [program, ...rest] = words;
  if (program === "cargo") return splitBuild(rest);
  const verbs = installing.get(program);
  const verbAt = rest.findIndex((word) => !word.startsWith("-"));
  const verb = verbAt < 0 ? "" : (rest[verbAt] ?? "");
  // An option with a value may come before the verb; then the verb is unknown.
  if (verbs === undefined || verbAt > 0 || !verbs.test(verb)) return undefined;
  const runsNone = rest.some((word) =>
    /^--ignore-scripts(?:=true)?$|^--dry-run$|^--package-lock-only$|^--lockfile-only$/.test(word),
  );
  const named = rest.slice(verbAt + 1).some((word) => !word.startsWith("-"));
  return {
    fetch: runsNone ? quotedCommand(words) : fetchText(words),
    // Without a project, it has no scripts.
    scripts: runsNone || rest.some((word) => other.test(word)) ? undefined : scriptsText(program, !named),
  };
}

const installing: ReadonlyMap<string, RegExp> = new Map([
  ["npm", /^(?:i|in|ins|install|add|ci|clean-install|update|up|upgrade)$/],
  ["pnpm", /^(?:i|install|add|update|up|upgrade)$/],
  ["yarn", /^(?:|install|add|up|upgrade)$/],
]);

/** Another project, or none. */
const other = /^(?:-g|--global|--prefix|-C|--cwd|--dir|-w|--workspace|--workspaces|-ws|--location)(?:=|$)/;

/** Scripts that npm runs after an install without names but that `npm rebuild` leaves out, in order. */
const leftOut = "prepublish preprepare prepare postprepare".split(" ");

const building = /^(?:b|build|c|check|clippy|d|doc|rustc)$/;
const running = /^(?:t|test|r|run|bench)$/;

/** For cargo: fetched packages have build scripts, and macros that run in the compiler. */
function splitBuild(words: readonly string[]): SplitInstall | undefined {
  const toolchain = words.slice(0, words[0]?.startsWith("+") === true ? 1 : 0);
  const [verb = "", ...options] = words.slice(toolchain.length);
  if (!building.test(verb) && !running.test(verb)) return undefined;
  const isRun = verb.startsWith("r") && running.test(verb);
  const own = options.slice(0, endOfOwn(options, isRun));
  if (own.some((word) => word === "--offline" || word === "--frozen")) return undefined;
  const passed = own.flatMap((word, at) => {
    if (/^--(?:locked$|(?:manifest-path|config)=)/.test(word)) return [word];
    return word === "--manifest-path" || word === "--config" ? [word, own[at + 1] ?? ""] : [];
  });
  const cargo = (...some: readonly string[]) => quotedCommand(["cargo", ...toolchain, ...some]);
  const fetch = `${noPrograms} ${cargo("fetch", ...passed)}`;
  const whole = cargo(verb, "--offline", ...options);
  if (building.test(verb) || own.includes("--no-run")) return { fetch, scripts: whole };
  const build = isRun ? ["build"] : [verb, "--no-run"];
  // For examples in comments, cargo builds the library, and what only tests depend on: `cargo build` leaves that out.
  const built = own.includes("--doc") ? ["--lib", ...own.filter((word) => word !== "--doc")] : own;
  return { fetch, scripts: cargo(...build, "--offline", ...built), program: whole };
}

/**
 * Where the program's own arguments begin: after `--`, and for `cargo run` with the first word that is neither an option nor
 * its value.
 */
function endOfOwn(options: readonly string[], isRun: boolean): number {
  let at = 0;
  while (at < options.length) {
    const word = options[at] ?? "";
    if (word === "--" || (isRun && !word.startsWith("-"))) break;
    at += isRun && withValue.test(word) ? 2 : 1;
  }
  return Math.min(at, options.length);
}

const withValue =
  /^(?:-[pFjZ]|--(?:package|features|jobs|bin|example|profile|target|target-dir|manifest-path|lockfile-path|config|color|message-format))$/;

/** Programs that the project's settings could name. */
const noPrograms = "RUSTC=rustc RUSTC_WRAPPER= RUSTC_WORKSPACE_WRAPPER= CARGO_NET_GIT_FETCH_WITH_CLI=false";

function fetchText(words: readonly [program: string, ...words: string[]]): string {
  const classic = quotedCommand(withOption(words, "--ignore-scripts"));
  return words[0] === "yarn" ? byYarn(classic, quotedCommand(withOption(words, "--mode=skip-build"))) : classic;
}

/** Added last, because the last one counts. After `--` it would be no option. */
function withOption(words: readonly string[], option: string): readonly string[] {
  const end = words.indexOf("--");
  return end < 0 ? [...words, option] : words.toSpliced(end, 0, option);
}

/** @param wholeProject of a package that was named, only what was installed has scripts to run */
function scriptsText(program: string, wholeProject: boolean): string {
  // The fetching run has already checked the lock file's packages with the registry.
  if (program === "pnpm") return unlessOff("pnpm", "pnpm_config_trust_lockfile=true pnpm rebuild");
  if (program === "npm") return unlessOff("npm", wholeProject ? allOfNpm : packagesOfNpm);
  return byYarn(unlessOff("npm", allOfNpm), "YARN_ENABLE_NETWORK=0 yarn install --immutable");
}

// Neither runs pre and post scripts of a named script: each of them is in the list.
const allOfNpm = ["npm rebuild", ...leftOut.map((script) => `npm run --if-present --ignore-scripts ${script}`)].join(
  " && ",
);

/** Not the project's own. */
const packagesOfNpm = [
  `names=$(node -p 'Object.entries(require("./node_modules/.package-lock.json").packages).filter(([, one]) => one.hasInstallScript).map(([place]) => place.replace(/.*node_modules\\//, "")).join(" ")')`,
  `{ [ -z "$names" ] || npm rebuild $names; }`,
].join(" && ");

/** The user's word against all scripts holds here as well. */
function unlessOff(manager: string, text: string): string {
  return `[ "$(${manager} config get ignore-scripts 2>/dev/null)" = true ] || { ${text}; }`;
}

/** The first one and those after it have other words for it. */
function byYarn(classic: string, later: string): string {
  return `case "$(yarn --version)" in 1.*) ${classic} ;; *) ${later} ;; esac`;
}
