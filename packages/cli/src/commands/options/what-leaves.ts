import { terminalSafe } from "../../terminal/terminal-safe.ts";

/** One kind of thing that could leave this machine. */
export interface Leaving {
  readonly leaves: boolean;
  readonly name: string;
  readonly what: string;
}

/** The list that `--dry-run` prints: what would leave this machine, and what not. @param where its destination */
export function leavesText(where: string, leaving: readonly Leaving[]): string {
  const lines = leaving.map(({ leaves, name, what }) => `  ${leaves ? "yes" : "no "} ${name.padEnd(13)} ${what}`);
  return `${terminalSafe([where, ...lines].join("\n"))}\n`;
}

/** The list's entries for parts that can be chosen. */
export function leavingParts<Part extends string>(
  all: readonly Part[],
  words: Readonly<Record<Part, string>>,
  chosen: ReadonlySet<Part>,
): readonly Leaving[] {
  return all.map((part) => ({ leaves: chosen.has(part), name: part, what: words[part] }));
}

/** The entry for what an export of lines never contains. */
export const neverLeaves: Leaving = {
  leaves: false,
  name: "prompts",
  what: "never; nor answers, inputs of calls, or texts of files",
};
