import type { EditingMode } from "@gennai/governance/policies/git/branch";

/** The tools of each word in a scenario's `tools`. `code` is another name for `filesystem`. */
const toolGroups: ReadonlyMap<string, readonly string[]> = new Map([
  ["default", ["Read", "LS", "Grep", "Glob", "WebFetch", "WebSearch"]],
  ["search", ["Grep", "Glob"]],
  ["filesystem", ["Read", "LS", "Write", "Edit", "MultiEdit", "apply_patch", "NotebookEdit", "Delete", "Move"]],
  ["code", ["Read", "LS", "Write", "Edit", "MultiEdit", "apply_patch", "NotebookEdit", "Delete", "Move"]],
  ["bash", ["Bash", "BashOutput", "KillShell", "RunInTerminal"]],
  ["todo", ["TodoRead", "TodoWrite"]],
  ["proposal", ["ProposeChanges"]],
  ["web", ["WebFetch", "WebSearch"]],
  ["agents", ["Task", "Explore"]],
]);

export const toolGroupNames: readonly string[] = [...toolGroups.keys(), "mcp:<server or *>"];

/** All tools that an editor-safe scenario may use. An allowlist, so that a new tool is excluded until it is added here. */
const editorSafeTools: ReadonlySet<string> = new Set([
  "Read",
  "LS",
  "Grep",
  "Glob",
  "WebFetch",
  "WebSearch",
  "TodoRead",
  "TodoWrite",
  "ProposeChanges",
  "Explore",
]);

/** Tools that an editor-safe scenario may also use if all its changes are staged. Also an allowlist. */
const stagingTools: ReadonlySet<string> = new Set([
  "Write",
  "Edit",
  "MultiEdit",
  "apply_patch",
  "NotebookEdit",
  "Delete",
  "Move",
  "Bash",
  "Task",
]);

/** Tools that only look. */
const readOnlyTools: ReadonlySet<string> = new Set([
  "Read",
  "LS",
  "Grep",
  "Glob",
  "TodoRead",
  "WebFetch",
  "WebSearch",
  "Explore",
]);

const toolNames: ReadonlyMap<string, string> = new Map(
  [...toolGroups.values()].flat().map((name) => [plainName(name), name]),
);

export interface ToolSelection {
  readonly tools: readonly string[];
  readonly mcp: readonly string[];
  /** Words that are neither a group nor a tool. */
  readonly unknown: readonly string[];
}

/** Parses the words of a scenario's `tools`: groups, `mcp:<server>`, or single tools by name, in any case. */
export function selectTools(words: readonly string[]): ToolSelection {
  const tools = new Set<string>();
  const mcp = new Set<string>();
  const unknown: string[] = [];
  for (const word of words) {
    const server = /^mcp:\s*(\S+)$/i.exec(word)?.[1];
    const group = toolGroups.get(word.toLowerCase());
    const single = toolNames.get(plainName(word));
    if (server !== undefined) mcp.add(server);
    else if (group !== undefined) for (const name of group) tools.add(name);
    else if (single !== undefined) tools.add(single);
    else unknown.push(word);
  }
  return { tools: [...tools], mcp: [...mcp], unknown };
}

/** The tools allowed where nothing may be written; always includes `ProposeChanges`, the only way to change anything. */
export function editorSafe(tools: readonly string[]): readonly string[] {
  return [...new Set([...tools.filter((name) => editorSafeTools.has(name)), "ProposeChanges"])];
}

/** The tools allowed where only reading is permitted. */
export function readingOnly(tools: readonly string[]): readonly string[] {
  return tools.filter((name) => readOnlyTools.has(name));
}

/** The tools of a scenario under an editing mode: proposal mode turns every writing scenario into one that proposes. */
export function toolsInMode(tools: readonly string[], editingMode: EditingMode): readonly string[] {
  if (editingMode === "branch" || !canChange(tools)) return tools;
  if (editingMode === "proposal") return editorSafe(tools);
  return [...new Set([...tools.filter((name) => stagingTools.has(name)), ...editorSafe(tools)])];
}

/** True if a scenario changes files itself instead of only proposing: in Proposal Mode its changes can be staged. */
export function canStage(tools: readonly string[]): boolean {
  return tools.some((name) => stagingTools.has(name));
}

export function canChange(tools: readonly string[]): boolean {
  return tools.some((name) => !readOnlyTools.has(name) && name !== "TodoWrite");
}

function plainName(name: string): string {
  return name.toLowerCase().replaceAll("_", "");
}
