import { quotedCommand } from "../command/shell-words.ts";
import { type FoundVerb, verbOf } from "../programs/known-programs.ts";
import type { BuildApart, InstallApart, InstallWay } from "../programs/program.ts";
import { oneCommand } from "./one-command.ts";

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
 * Splits an install or a build, of programs that can fetch apart, that is a command of its own; undefined for anything else. Code
 * from packages runs in a separate step, never with network access.
 */
export function splitInstall(text: string): SplitInstall | undefined {
  const words = oneCommand(text);
  if (words === undefined) return undefined;
  const [name, ...given] = words;
  const found = verbOf(name, given);
  const { apart } = found?.program ?? {};
  if (found?.verb.apart === undefined || apart === undefined) return undefined;
  if (apart.type === "build") return splitBuild(apart, words, found);
  // An option before the verb may lead to another project.
  const hasVerb = given[0]?.startsWith("-") === false;
  if (hasVerb ? found.rest.length < given.length - 1 : given.some((word) => !word.startsWith("-"))) return undefined;
  const operands = given.slice(hasVerb ? 1 : 0);
  const runsNone = given.some((word) => apart.runsNone.test(word));
  const isNamed = operands.some((word) => !word.startsWith("-"));
  return {
    fetch: runsNone ? quotedCommand(words) : inWay(apart, ({ without }) => quotedCommand(withOption(words, without))),
    // Without a project, it has no scripts.
    scripts:
      runsNone || given.some((word) => apart.elsewhere.test(word))
        ? undefined
        : // Of a package that was named, only what was installed has scripts to run.
          inWay(apart, ({ scripts, packages = scripts }) => (isNamed ? packages : scripts)),
  };
}

function inWay({ ways, version = "" }: InstallApart, text: (way: InstallWay) => string): string {
  const [first, ...others] = ways;
  if (others.length === 0) return text(first);
  const cases = ways.map((way) => `${way.versions ?? "*"}) ${text(way)} ;;`);
  return `case "$(${version})" in ${cases.join(" ")} esac`;
}

/** Added last, because the last one counts. After `--` it would be no option. */
function withOption(words: readonly string[], option: string): readonly string[] {
  const end = words.indexOf("--");
  return end < 0 ? [...words, option] : words.toSpliced(end, 0, option);
}

function splitBuild(
  apart: BuildApart,
  [program, ...words]: readonly [string, ...string[]],
  { verb: { apart: kind } }: FoundVerb,
): SplitInstall | undefined {
  const toolchain = words.slice(0, words[0]?.startsWith("+") === true ? 1 : 0);
  const [verb = "", ...options] = words.slice(toolchain.length);
  if (verb.startsWith("-")) return undefined;
  const isRun = kind === "run";
  const own = options.slice(0, endOfOwn(options, apart, isRun));
  if (own.some((word) => apart.fetchesNothing.test(word))) return undefined;
  const passed = own.flatMap((word, at) => {
    if (apart.passed.test(word)) return [word];
    return apart.passedWithValue.test(word) ? [word, own[at + 1] ?? ""] : [];
  });
  const call = (...some: readonly string[]) => quotedCommand([program, ...toolchain, ...some]);
  const fetch = `${apart.environment} ${call(apart.fetch, ...passed)}`;
  const whole = call(verb, apart.offline, ...options);
  if (kind === "build" || own.includes(apart.noRun)) return { fetch, scripts: whole };
  const build = isRun ? [apart.build] : [verb, apart.noRun];
  const { option, instead } = apart.examples;
  const built = own.includes(option) ? [instead, ...own.filter((word) => word !== option)] : own;
  return { fetch, scripts: call(...build, apart.offline, ...built), program: whole };
}

/** Where the program's own arguments begin: after `--`, and for one that is run with the first word that is neither an option nor its value. */
function endOfOwn(options: readonly string[], { values }: BuildApart, isRun: boolean): number {
  let at = 0;
  while (at < options.length) {
    const word = options[at] ?? "";
    if (word === "--" || (isRun && !word.startsWith("-"))) break;
    at += isRun && values.test(word) ? 2 : 1;
  }
  return Math.min(at, options.length);
}
