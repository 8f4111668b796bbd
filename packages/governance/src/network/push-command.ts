import { programNamed } from "../programs/known-programs.ts";
import { oneCommand } from "./one-command.ts";

/** `git push`, with the options that are passed to git. */
export interface PushCommand {
  readonly options: readonly string[];
  /** The name of a remote, or its address; undefined where git chooses. */
  readonly remote: string | undefined;
  readonly refspecs: readonly string[];
  /** It is told to run no hook. */
  readonly skipsHook: boolean;
  /** It is told to set the branch's upstream. */
  readonly setsUpstream: boolean;
}

/**
 * A push that is a command of its own, so simple that all its effects are known. Undefined for any other command, and with options
 * that would lead git elsewhere.
 *
 * @param text for the shell
 */
export function pushCommandOf(text: string): PushCommand | undefined {
  const [program = "", verb, ...rest] = oneCommand(text) ?? [];
  if (programNamed(program)?.logins?.includes("git") !== true || verb !== "push") return undefined;
  const options: string[] = [];
  const operands: string[] = [];
  let skipsHook = false;
  let setsUpstream = false;
  for (let at = 0; at < rest.length; at += 1) {
    const word = rest[at] ?? "";
    if (word === "--no-verify") skipsHook = true;
    else if (word === "--set-upstream") setsUpstream = true;
    else if (word === "-o" || word === "--push-option") {
      const value = rest[(at += 1)];
      if (value === undefined) return undefined;
      options.push(`--push-option=${value}`);
    } else if (/^-[a-zA-Z]/.test(word)) {
      if (!/^-[nvqfdu46]+$/.test(word)) return undefined;
      setsUpstream ||= word.includes("u");
      const others = word.replaceAll("u", "");
      if (others !== "-") options.push(others);
    } else if (word.startsWith("-")) {
      if (!known.test(word)) return undefined;
      options.push(word);
    } else operands.push(word);
  }
  const [remote, ...refspecs] = operands;
  if (remote === "" || remote?.startsWith("-") === true) return undefined;
  return { options, remote, refspecs, skipsHook, setsUpstream };
}

/** No option that names a program, another repository, or another repository's settings. */
const known =
  /^--(?:(?:no-)?(?:tags|follow-tags|atomic|dry-run|verbose|quiet|progress|thin|force-if-includes)|verify|porcelain|ipv[46]|force|delete|all|branches|mirror|prune|force-with-lease(?:=.*)?|push-option=.*|no-force-with-lease|no-signed|signed=no|recurse-submodules=no|no-recurse-submodules)$/;
