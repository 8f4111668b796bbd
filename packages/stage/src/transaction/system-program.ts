import { statSync } from "node:fs";
import { StageUnavailable } from "./stage-error.ts";

/** Directories where systems install programs. Never `PATH`: a workspace could put a program of this name there. */
const directories = ["/usr/bin", "/bin", "/usr/sbin", "/sbin", "/run/current-system/sw/bin"];

/** Absolute path of a program that only root could have put there. Throws `StageUnavailable` (`program_missing`). */
export function systemProgram(name: string): string {
  const found = directories.map((directory) => `${directory}/${name}`).find(isRoots);
  if (found !== undefined) return found;
  throw new StageUnavailable(
    "program_missing",
    `The program ${name} is not installed.`,
    "Install util-linux and coreutils from the system's packages.",
  );
}

function isRoots(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  return (
    stat !== undefined && stat.isFile() && stat.uid === 0 && (stat.mode & 0o022) === 0 && (stat.mode & 0o111) !== 0
  );
}
