import { accessSync, constants } from "node:fs";

const candidates = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/run/current-system/sw/bin/bash", "/bin/sh"];
let found: string | undefined;

/** Absolute path of the shell that runs commands: bash, else sh; undefined where there is neither. Looked for once. */
export function findShell(): string | undefined {
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
