import type { ToolName } from "@gennai/protocol/built-in-tools";
import { canonicalJson } from "@gennai/protocol/canonical-json";
import { isRecord } from "@gennai/protocol/json-value";
import { parseStrictJson } from "@gennai/protocol/strict-json";
import type * as z from "zod";
import type { Tool } from "../../tool.ts";

/** Tools of other agents, in plain form, that do what one of ours does: those of Codex, Gemini CLI, Cline, Claude Code and OpenHands. */
const otherTools: Readonly<Partial<Record<string, ToolName>>> = {
  execcommand: "Bash",
  executebash: "Bash",
  executecommand: "Bash",
  localshell: "Bash",
  runshellcommand: "Bash",
  shell: "Bash",
  shellcommand: "Bash",
  readfile: "Read",
  viewfile: "Read",
  viewimage: "Read",
  writefile: "Write",
  grepfiles: "Grep",
  grepsearch: "Grep",
  searchfilecontent: "Grep",
  listdir: "LS",
  listdirectory: "LS",
  updateplan: "TodoWrite",
  askuserquestion: "AskUser",
  askfollowupquestion: "AskUser",
  question: "AskUser",
  requestuserinput: "AskUser",
};

/**
 * The tool for a name: models also use those of other agents, e.g. `read` or `exec_command`. Matches exactly, or without case,
 * underscores and hyphens if only one tool fits.
 */
export function toolNamed(tools: ReadonlyMap<string, Tool>, name: string): Tool | undefined {
  const exact = tools.get(name);
  if (exact !== undefined) return exact;
  const wanted = plain(name);
  const found = [...tools].filter(([each]) => plain(each) === wanted);
  if (found.length > 1) return undefined;
  return found[0]?.[1] ?? tools.get((Object.hasOwn(otherTools, wanted) && otherTools[wanted]) || name);
}

function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, "");
}

/**
 * Remarks that other agents' tools ask for and that do not change a call's effect. Any other unknown argument stays an error:
 * ignoring `dry_run`, a call would do what was not intended.
 */
const remarks: ReadonlySet<string> = new Set([
  // In todos: the text Claude Code shows while one is worked on.
  "activeForm",
  "description",
  "explanation",
  "instruction",
  "instructions",
  "justification",
  "rationale",
  "reason",
  "reasoning",
  "thought",
  "title",
  "toolAction",
  "toolSummary",
  "tool_summary",
]);

/**
 * What the command tools of Codex are told of a terminal, of waiting, of the shown output and of rights: no command here has a
 * terminal, each is waited for, output has its own limit, and rights are the user's to give.
 */
const ofCommands: ReadonlySet<string> = new Set([
  "login",
  "max_output_tokens",
  "prefix_rule",
  "sandbox_permissions",
  "tty",
  "with_escalated_permissions",
  "yield_time_ms",
]);

/**
 * Converts invalid arguments to the tool's form: other names of the same field; numbers, booleans and lists written as text;
 * `null` for absent. Only what says nothing about the effect is dropped. This form is decided on, asked about and recorded.
 * @param issues why they do not fit as they are
 */
export function usualForm(tool: Tool, value: unknown, issues: readonly z.core.$ZodIssue[]): unknown {
  if (!isRecord(value)) return value;
  const mended: Record<string, unknown> = structuredClone(tool.otherShape?.(value) ?? value);
  for (const { path, code, ...issue } of issues) {
    if (code === "invalid_type" && "expected" in issue) asWanted(mended, path, String(issue.expected));
  }
  for (const { path, code, ...issue } of issues) {
    const place = code === "unrecognized_keys" ? at(mended, path) : undefined;
    if (isRecord(place) && "keys" in issue && Array.isArray(issue.keys)) renamed(place, issue.keys, tool);
  }
  return mended;
}

/** @param unknown names in `place` that the tool does not know */
function renamed(place: Record<string, unknown>, unknown: readonly unknown[], tool: Tool): void {
  for (const [name, usual] of Object.entries(tool.otherNames ?? {})) {
    if (!unknown.includes(name)) continue;
    const [other, own] = [place[name], place[usual]];
    const counts = [Number(other), Number(own)];
    // Lines before and lines behind: what takes one number gets the larger.
    if (own !== undefined && counts.every((count) => Number.isSafeInteger(count))) place[usual] = Math.max(...counts);
    else if (own !== undefined) continue;
    else place[usual] = other;
    delete place[name];
  }
  for (const name of unknown) {
    if (typeof name === "string" && (remarks.has(name) || (tool.name === "Bash" && ofCommands.has(name))))
      delete place[name];
  }
}

function at(root: unknown, path: readonly PropertyKey[]): unknown {
  let place = root;
  for (const key of path) place = isRecord(place) || Array.isArray(place) ? Reflect.get(place, key) : undefined;
  return place;
}

function asWanted(root: Record<string, unknown>, path: readonly PropertyKey[], expected: string): void {
  const place = at(root, path.slice(0, -1));
  const last = path.at(-1);
  if ((!isRecord(place) && !Array.isArray(place)) || last === undefined) return;
  const written: unknown = Reflect.get(place, last);
  if (written === null && isRecord(place)) Reflect.deleteProperty(place, last);
  if (typeof written !== "string") return;
  const text = written.trim();
  if (expected === "array" && text.startsWith("[")) Reflect.set(place, last, listIn(text) ?? written);
  if ((expected === "number" || expected === "int") && /^-?\d{1,15}$/.test(text))
    Reflect.set(place, last, Number(text));
  if (expected === "boolean" && /^(?:true|false)$/i.test(text)) Reflect.set(place, last, text.toLowerCase() === "true");
}

function listIn(text: string): unknown {
  try {
    const value = parseStrictJson(text, { maxLength: 64 * 1024 * 1024, maxDepth: 64 });
    // Refuses what no record could hold.
    canonicalJson(value);
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
