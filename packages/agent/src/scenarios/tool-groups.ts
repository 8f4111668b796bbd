import type { EditingMode } from "@gennai/governance/policies/branch";
import { builtInTools, toolGroups } from "@gennai/protocol/built-in-tools";

/** The tools of each word in a scenario's `tools`. */
const toolsByGroup: ReadonlyMap<string, readonly string[]> = new Map(
  toolGroups.map((group) => [
    group,
    [...builtInTools].flatMap(([name, { groups }]) => (groups.includes(group) ? [name] : [])),
  ]),
);

export const toolGroupNames: readonly string[] = [...toolGroups, "mcp:<server or *>"];

/** Those that a scenario may name. */
const toolNames: ReadonlyMap<string, string> = new Map(
  [...toolsByGroup.values()].flat().map((name) => [plainName(name), name]),
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
    const group = toolsByGroup.get(word.toLowerCase());
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
  return [...new Set([...tools.filter(isEditorSafe), "ProposeChanges"])];
}

/** The tools allowed where only reading is permitted. */
export function readingOnly(tools: readonly string[]): readonly string[] {
  return tools.filter((name) => changesOf(name) === "nothing");
}

/** The tools of a scenario under an editing mode: proposal mode turns every writing scenario into one that proposes. */
export function toolsInMode(tools: readonly string[], editingMode: EditingMode): readonly string[] {
  if (editingMode === "branch" || !canChange(tools)) return tools;
  if (editingMode === "proposal") return editorSafe(tools);
  return [...new Set([...tools.filter(changesFiles), ...editorSafe(tools)])];
}

/** True if a scenario changes files itself instead of only proposing: in Proposal Mode its changes can be staged. */
export function canStage(tools: readonly string[]): boolean {
  return tools.some(changesFiles);
}

export function canChange(tools: readonly string[]): boolean {
  return tools.some((name) => !["nothing", "session"].includes(changesOf(name)));
}

/** An allowlist, so that another kind of change is excluded until it is added here. */
function isEditorSafe(name: string): boolean {
  return ["nothing", "session", "proposal"].includes(changesOf(name));
}

function changesFiles(name: string): boolean {
  return changesOf(name) === "files";
}

/** A tool that is not built in may do anything. */
function changesOf(name: string) {
  return builtInTools.get(name)?.changes ?? "unstaged";
}

function plainName(name: string): string {
  return name.toLowerCase().replaceAll("_", "");
}
