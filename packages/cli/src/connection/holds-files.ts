import { usageError } from "../terminal/cli-error.ts";
import type { ServerFlags } from "./server-choice.ts";

/**
 * Whether this command keeps the files and the server reaches them only through it: if the user says so, else for a server on
 * another machine. Throws `CliError` for a server that would be started for these very files.
 */
export function holdsFiles({ server, localFiles }: ServerFlags): boolean {
  const isNamed = server !== "auto" && server !== "own";
  if (localFiles === true && !isNamed) {
    throw usageError(
      "--local-files is for a server that cannot reach them.",
      "Name it: --server https://agent.example",
    );
  }
  return localFiles ?? (isNamed && !isThisMachine(server));
}

function isThisMachine(url: string): boolean {
  if (!URL.canParse(url)) return true;
  return /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(new URL(url).hostname);
}
