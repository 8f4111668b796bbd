import type { AnalysisReport } from "../analysis-report.ts";
import type { Invocation, Place } from "../invocation.ts";
import { proveAwk } from "./prove-awk.ts";
import { proveFind } from "./prove-find.ts";
import { proveGit } from "./prove-git.ts";
import { proveListed } from "./prove-listed.ts";
import { proveSed } from "./prove-sed.ts";
import { readingPrograms, systemProgramDirectories, versionPrograms } from "./reading-programs.ts";

/** True when the invocation provably reads; what it reads is reported either way. */
export function proveReading(invocation: Invocation, report: AnalysisReport, place: Place): boolean {
  if (!isSystemProgram(invocation.program)) return false;
  const { name, words } = invocation;
  if (words.length === 1 && /^(?:--version|-v|-V|version)$/.test(words[0]?.literal ?? "") && versionPrograms.has(name))
    return true;
  switch (name) {
    case "git":
      return proveGit(invocation, report, place);
    case "sed":
    case "gsed":
      return proveSed(invocation, report);
    case "awk":
    case "gawk":
    case "mawk":
    case "nawk":
      return proveAwk(invocation, report);
    case "find":
    case "gfind":
      return proveFind(invocation, report);
    case "cd":
    case "pushd":
    case "popd":
      return words.length <= 1 && words.every((word) => word.literal !== undefined);
  }
  const program = readingPrograms.get(name);
  return program !== undefined && proveListed(program, invocation, report, place);
}

function isSystemProgram(program: string): boolean {
  const slash = program.lastIndexOf("/");
  return slash < 0 || systemProgramDirectories.has(program.slice(0, slash));
}
