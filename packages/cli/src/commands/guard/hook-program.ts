import { existsSync, realpathSync } from "node:fs";
import { quoted } from "@gennai/governance/command/shell-words";
import { usageError } from "../../terminal/cli-error.ts";
import { relayPath } from "./guarded-file.ts";

/** What an agent starts for each call: the relay if there is Perl. The relay becomes this program if no server listens. */
export interface HookProgram {
  /** Every variable that could influence it is set here, whatever the caller's environment. */
  readonly environment: Readonly<Record<string, string>>;
  readonly words: readonly [string, ...string[]];
}

/** Usual paths of Perl. Without it, Node asks the server, which takes longer. */
const perls = ["/usr/bin/perl", "/usr/local/bin/perl"];

/** @param project undefined: the agent that starts it names the project. Throws `CliError`. */
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

/** The same for every user of this machine, each with their own servers; without the relay, which is in one user's directory. */
export function managedProgram(agent: string): HookProgram {
  const program = process.argv[1];
  if (program === undefined || !existsSync(program))
    throw usageError("It is not known where this program is installed.");
  return {
    environment: { NODE_OPTIONS: "", GENNAI_STATE_DIR: "", GENNAI_GUARD_PROJECT: "" },
    words: [process.execPath, ...process.execArgv, realpathSync(program), "guard", "hook", agent],
  };
}

/** Whether it was started as `managedProgram` says: any other hook names a state directory. */
export function isManaged(environment: NodeJS.ProcessEnv): boolean {
  return environment["GENNAI_STATE_DIR"] === "";
}

/** The program as a line for a shell. */
export function shellLine({ environment, words }: HookProgram): string {
  const set = Object.entries(environment).map(([name, value]) => `${name}=${value === "" ? "" : quoted(value)}`);
  // The last three are plain words, by which the line is recognized later.
  return [...set, ...words.slice(0, -3).map(quoted), ...words.slice(-3)].join(" ");
}
