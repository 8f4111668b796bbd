import { hidesFailure } from "../command/hides-failure.ts";
import type { CommandAnalysis } from "../command-analysis.ts";
import type { Endpoint } from "../endpoint.ts";
import { verbOf } from "../programs/known-programs.ts";

/**
 * Whether a person is asked about hosts that a command was refused. Not if all of it succeeded without them, as beside a check for
 * updates, unless the command itself names one, or one of its verbs is known to reach it.
 */
export function isWorthAsking(
  command: CommandAnalysis,
  refused: readonly Endpoint[],
  exitCode: number | undefined,
): boolean {
  if (refused.length === 0) return false;
  if (exitCode !== 0 || hidesFailure(command)) return true;
  const reached = reachedHosts(command);
  return refused.some(({ host }) => reached.has(host) || command.text.toLowerCase().includes(host));
}

/** Public hosts of the verbs in a command; others stand in settings. */
function reachedHosts({ commands }: CommandAnalysis): ReadonlySet<string> {
  return new Set(
    commands.flatMap(({ name, words }) => {
      const { program, verb } = verbOf(name, words) ?? {};
      return verb?.reaches === true || verb?.login === true ? (program?.hosts?.split(" ") ?? []) : [];
    }),
  );
}
