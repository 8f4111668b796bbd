import type { CommandAnalysis } from "@gennai/governance/command/command-analysis";
import { isWithin } from "@gennai/machine/workspace/paths/resolve-path";

/** Directories in which a staged command finds again what an earlier one wrote, or where nothing is written. */
const harmless = ["/tmp", "/dev", "/proc"];

/**
 * Paths outside the workspace that a staged command names as written, as they are typed. They are gone when it has ended,
 * also where it said that all went well.
 */
export function lostWrites({ paths }: Pick<CommandAnalysis, "paths">, workspaceRoot: string): readonly string[] {
  const lost = paths.filter(
    ({ access, absolute, pattern }) =>
      access === "write" &&
      pattern === undefined &&
      ![workspaceRoot, ...harmless].some((root) => isWithin(root, absolute)),
  );
  return [...new Set(lost.map(({ raw }) => raw))];
}
