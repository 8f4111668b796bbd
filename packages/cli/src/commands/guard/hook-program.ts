import { existsSync } from "node:fs";
import { usageError } from "../../errors/cli-error.ts";
import { relayPath } from "./guarded-file.ts";

/** What is started for each call, no matter who starts it: the relay where there is Perl, which may become this program. */
export interface HookProgram {
  /** Every variable that could influence it is set here, whatever the caller's environment. */
  readonly environment: Readonly<Record<string, string>>;
  readonly words: readonly [string, ...string[]];
}

/** Where systems have it. Without it, Node asks by itself, which takes longer. */
const perls = ["/usr/bin/perl", "/usr/local/bin/perl"];

/** @param project undefined: who starts it says which one it is. Throws `CliError`. */
export function hookProgram(agent: string, stateDir: string, project: string | undefined): HookProgram {
  const program = process.argv[1];
  if (program === undefined || !existsSync(program))
    throw usageError("It is not known where this program is installed.");
  const perl = perls.find((path) => existsSync(path));
  const node = [process.execPath, ...process.execArgv, program, "guard", "hook", agent] as const;
  return {
    environment: {
      NODE_OPTIONS: "",
      ...(perl === undefined ? {} : { PERL5OPT: "", PERL5LIB: "" }),
      GENNAI_STATE_DIR: stateDir,
      GENNAI_GUARD_PROJECT: project ?? "",
    },
    words: perl === undefined ? node : [perl, relayPath(stateDir), ...node],
  };
}

/** The program as a line for a shell. */
export function shellLine({ environment, words }: HookProgram): string {
  const set = Object.entries(environment).map(([name, value]) => `${name}=${value === "" ? "" : quoted(value)}`);
  // The last three are plain words, by which the line is known again.
  return [...set, ...words.slice(0, -3).map(quoted), ...words.slice(-3)].join(" ");
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
