import { access, constants } from "node:fs/promises";
import { join } from "node:path";
import { EditorError } from "../editor/editor-error.ts";

/** How the shell of an agent's terminal is started. */
export interface DeclaredShell {
  readonly shellPath: string;
  readonly shellArgs: readonly string[];
  /** null removes a variable. */
  readonly environment: Readonly<Record<string, string | null>>;
}

/**
 * bash without the user's start files, whatever the user's own shell is: commands were analysed as bash, and an alias or a
 * function could change their meaning. History expansion is off. The editor's own script is loaded explicitly, because the editor
 * adds it only to a bash that it starts without arguments. Rejects with `EditorError` (`no_shell`).
 * @param appRoot where the editor is installed
 */
export async function declaredShell(appRoot: string, platform: NodeJS.Platform): Promise<DeclaredShell> {
  if (platform === "win32") throw noShell("Commands in the terminal need bash, which Windows does not have.");
  const shellPath = await firstOf(["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/opt/homebrew/bin/bash"]);
  if (shellPath === undefined) throw noShell("Commands in the terminal need bash, which was not found.");
  const script = await firstOf(integrationScripts.map((path) => join(appRoot, path)));
  if (script === undefined) throw noShell("The editor's shell integration for bash was not found.");
  return {
    shellPath,
    shellArgs: ["--noprofile", "--init-file", script, "+H"],
    environment: { HISTFILE: "", BASH_ENV: null, ENV: null, PROMPT_COMMAND: null, GENNAI_AUTH_TOKEN: null },
  };
}

const integrationScripts: readonly string[] = [
  "out/vs/workbench/contrib/terminal/common/scripts/shellIntegration-bash.sh",
  "out/vs/workbench/contrib/terminal/browser/media/shellIntegration-bash.sh",
];

function noShell(what: string): EditorError {
  return new EditorError("no_shell", what, "Run the command with Bash on the server.");
}

async function firstOf(paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) {
    const readable = await access(path, constants.R_OK).then(
      () => true,
      () => false,
    );
    if (readable) return path;
  }
  return undefined;
}
