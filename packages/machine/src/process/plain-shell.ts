import { accessSync, constants } from "node:fs";
import { ToolFailure } from "@gennai/governance/tool-error";

const candidates = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/run/current-system/sw/bin/bash", "/bin/sh"];
let found: string | undefined;

/** Whether this machine has a shell that runs commands. */
export function hasShell(): boolean {
  return findShell() !== undefined;
}

/**
 * Program (absolute path) and arguments that run a shell command without start-up files: `bash -c`, else `sh -c`.
 * Throws `ToolFailure` `tool_unavailable` where there is neither.
 */
export function plainShell(command: string): readonly string[] {
  const shell = findShell();
  if (shell !== undefined) return [shell, "-c", command];
  throw new ToolFailure("tool_unavailable", "There is no shell on this machine, so no command can run.", {
    failureClass: "tool_unavailable",
    hint: "Use RunInTerminal, which runs in the user's editor.",
  });
}

/** Looked for once. */
function findShell(): string | undefined {
  found ??= candidates.find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
  return found;
}
