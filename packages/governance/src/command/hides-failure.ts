import type { CommandAnalysis } from "./command-analysis.ts";

/** Whether a part of the command may have failed though its exit code is 0: not all of its programs are joined by `&&`. */
export function hidesFailure({ text, commands }: CommandAnalysis): boolean {
  // A wrapper, e.g. `timeout`, ends as what it wraps.
  const programs = commands.filter(({ wrappers }, at) => (commands[at + 1]?.wrappers.length ?? 0) <= wrappers.length);
  return programs.length > text.split("&&").length || /^\s*!\s/.test(text);
}
