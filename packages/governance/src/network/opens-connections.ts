import type { CommandAnalysis } from "../command-analysis.ts";
import { programNamed, verbOf } from "../programs/known-programs.ts";

/**
 * True for a command that is known to open connections. False says nothing: a script or a test may open them as well, and is asked
 * about when it does.
 */
export function opensConnections({ commands }: CommandAnalysis): boolean {
  return commands.some(
    ({ name, words }) => programNamed(name)?.reaches === true || verbOf(name, words)?.verb.reaches === true,
  );
}
