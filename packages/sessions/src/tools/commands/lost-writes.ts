import type { CommandAnalysis } from "@gennai/governance/command-analysis";
import { isWithin } from "@gennai/protocol/is-within";

/** Directories whose content later staged commands see too, or where nothing is written. */
const harmless = ["/tmp", "/dev", "/proc"];

/**
 * Paths outside the workspace that a staged command writes, as typed. They are lost at its end, even if the command reported
 * success.
 */
export function lostWrites({ paths }: Pick<CommandAnalysis, "paths">, workspaceRoot: string): readonly string[] {
  const lost = paths.filter(
    ({ access, absolute, pattern }) =>
      access === "write" &&
      pattern === undefined &&
      ![workspaceRoot, ...harmless].some((root) => isWithin(absolute, { directory: root })),
  );
  return [...new Set(lost.map(({ raw }) => raw))];
}
