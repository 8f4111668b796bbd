import { once } from "node:events";
import type { PolicyWorkbench } from "@gennai/sessions/policy-workbench/policy-workbench";
import type { Console } from "../../terminal/console.ts";
import { boundedLines } from "./bounded-lines.ts";

const maxLineBytes = 4 * 1024 * 1024;

interface LineAnswer {
  readonly id: unknown;
  readonly verdict: "allow" | "ask" | "deny";
  readonly risk: string;
  readonly rules: readonly string[];
  readonly reason: string;
}

/**
 * Answers one `{id, tool, input}` a line with one `{id, verdict, risk, rules, reason}` a line, in order. A line that is no
 * such call is answered with a deny that says why; blank lines are passed over. Gives true when every call was allowed.
 */
export async function decideLines(
  workbench: PolicyWorkbench,
  console: Pick<Console, "input" | "output">,
): Promise<boolean> {
  let allAllowed = true;
  const { output } = console;
  for await (const line of boundedLines(bytesOf(console.input), maxLineBytes)) {
    if (line !== undefined && line.trim() === "") continue;
    const answer = line === undefined ? bad(null, "the line is longer than 4 MiB") : await answerLine(workbench, line);
    if (answer.verdict !== "allow") allAllowed = false;
    if (!output.write(`${JSON.stringify(answer)}\n`)) await once(output, "drain");
  }
  return allAllowed;
}

async function* bytesOf(input: Console["input"]): AsyncGenerator<Uint8Array | string, void, undefined> {
  for await (const chunk of input) {
    if (typeof chunk === "string" || chunk instanceof Uint8Array) yield chunk;
  }
}

async function answerLine(workbench: PolicyWorkbench, line: string): Promise<LineAnswer> {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    return bad(null, `the line is not JSON: ${error instanceof Error ? error.message : "unknown error"}`);
  }
  if (!isRecord(value)) return bad(null, "the line is no JSON object {id, tool, input}");
  const id = value["id"] ?? null;
  const { tool, input } = value;
  if (typeof tool !== "string" || tool === "") return bad(id, "tool is missing: the name of a tool, e.g. Bash");
  const args = typeof input === "string" ? { command: input } : input;
  if (!isRecord(args)) return bad(id, "input is missing: an object with the tool's arguments");
  try {
    const { verdict, risk, rules, reason } = await workbench.decide(tool, args);
    return { id, verdict, risk, rules: rules.map(({ rule }) => rule), reason };
  } catch (error) {
    return bad(id, `the call could not be decided: ${error instanceof Error ? error.message : "unknown error"}`);
  }
}

function bad(id: unknown, reason: string): LineAnswer {
  return { id, verdict: "deny", risk: "high", rules: ["policy-check/bad-line"], reason };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
