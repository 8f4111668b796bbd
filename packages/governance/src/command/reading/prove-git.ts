import type { AnalysisReport } from "../analysis-report.ts";
import { gitParts } from "../dangers/git-dangers.ts";
import { gitPaths } from "../git-paths.ts";
import type { Invocation, Place } from "../invocation.ts";
import { parseOptions } from "../option-spec.ts";
import { gitGlobalReading, gitNeedsFirst, gitReading } from "./git-reading.ts";

/** Whether git provably reads: its subcommand, the options before and behind it, and only in the workspace itself. */
export function proveGit(invocation: Invocation, report: AnalysisReport, place: Place): boolean {
  const parts = gitParts(invocation);
  const global = parseOptions(invocation.words, gitGlobalReading, { stopAtOperand: true });
  let proven =
    global.unknown === undefined && invocation.directories.every((directory) => directory === place.workspace);
  for (const { option, word } of parts.values) {
    if (option !== "-c") continue;
    const pager = /^(?:core\.)?pager(?:\.\w+)?=(?:cat)?$/.test(word.literal ?? "");
    if (pager && invocation.words.length > 0) continue;
    proven = false;
  }
  if (parts.subcommand === "") return proven && parts.flags.has("--version");
  const reading = gitReading.get(parts.subcommand);
  if (reading === undefined) return false;
  const parsed = parseOptions(parts.words, reading.options);
  if (parsed.unknown !== undefined) proven = false;
  if (parsed.values.some(({ option, word }) => looksIntoSubmodules.get(option)?.has(word.literal ?? "") === true))
    proven = false;
  let operands = parsed.operands;
  if (reading.pattern && !parsed.values.some((value) => value.kind === "pattern")) operands = operands.slice(1);
  const [first] = operands;
  if (
    reading.first !== undefined &&
    (first === undefined ? gitNeedsFirst.has(parts.subcommand) : !reading.first.includes(first.literal ?? ""))
  )
    proven = false;
  if (reading.operands === "none" && operands.length > 0) proven = false;
  if (
    reading.operands === "listing" &&
    operands.length > 0 &&
    !reading.listing?.some((flag) => parsed.flags.has(flag))
  ) {
    proven = parts.subcommand === "symbolic-ref" && operands.length === 1 && proven;
  }
  if (
    operands.some((word) => word.kind === "dynamic") ||
    operands.some((word) => word.kind === "glob" && /^[*?[]/.test(word.raw))
  )
    proven = false;
  proven &&= !invocation.appendsInput;
  if (proven)
    gitPaths(
      invocation,
      parts.subcommand,
      reading.pattern ? [...parsed.operands.slice(1), ...parsed.values.map((value) => value.word)] : parts.words,
      report,
    );
  return proven;
}

/** Values with which another git runs in each submodule, by the settings that are there; and any that is not literal. */
const looksIntoSubmodules: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["--submodule", new Set(["diff", ""])],
  ["--ignore-submodules", new Set(["none", "untracked", ""])],
]);
