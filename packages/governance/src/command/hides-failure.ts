import type { CommandAnalysis } from "../command-analysis.ts";

/** True if a program in it may fail although the exit code is 0: only `&&`, and a single program, pass every failure on. */
export function hidesFailure({ text, commands }: CommandAnalysis): boolean {
  const words = text.trim();
  if (words.startsWith("!")) return true;
  return commands.length > 1 && /[|;\n`]|[$<>]\(|(?<![&<>])&(?![&>])/.test(words);
}
