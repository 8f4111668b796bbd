import { fileLines } from "@gennai/governance/ledger/ledger-line";
import { errorMessage } from "@gennai/protocol/error-message";
import { isRecord } from "@gennai/protocol/json-value";
import type { PolicyWorkbench } from "./policy-workbench.ts";

/** The rules' verdict on one line's call; `id` as in that line. */
export interface LineAnswer {
  readonly id: unknown;
  readonly verdict: "allow" | "ask" | "deny";
  /** The outcome; `staged`: the command runs on a copy without a question, and its changes are judged. */
  readonly outcome: "allow" | "staged" | "ask" | "deny";
  readonly risk: string;
  readonly rules: readonly string[];
  readonly reason: string;
}

/** Answers the calls in the input, see `PolicyWorkbench.decideLines`. */
export async function* decideLines(
  input: AsyncIterable<Uint8Array | string>,
  workbench: PolicyWorkbench,
): AsyncGenerator<LineAnswer, void, undefined> {
  for await (const { bytes, tooLong } of fileLines(bytesOf(input))) {
    const line = Buffer.from(bytes).toString();
    if (tooLong) yield bad(null, "the line is longer than 4 MiB");
    else if (line.trim() !== "") yield await answerLine(workbench, line);
  }
}

async function* bytesOf(input: AsyncIterable<Uint8Array | string>): AsyncGenerator<Uint8Array> {
  for await (const chunk of input) yield Buffer.from(chunk);
}

async function answerLine(workbench: PolicyWorkbench, line: string): Promise<LineAnswer> {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    return bad(null, `the line is not JSON: ${errorMessage(error)}`);
  }
  if (!isRecord(value)) return bad(null, "the line is not a JSON object {id, tool, input}");
  const id = value["id"] ?? null;
  const { tool, input } = value;
  if (typeof tool !== "string" || tool === "") return bad(id, "tool is missing: the name of a tool, e.g. Bash");
  const args = typeof input === "string" ? { command: input } : input;
  if (!isRecord(args)) return bad(id, "input is missing: an object with the tool's arguments");
  try {
    const { verdict, outcome, risk, rules, reason } = await workbench.decide(tool, args);
    return { id, verdict, outcome, risk, rules: rules.map(({ rule }) => rule), reason };
  } catch (error) {
    return bad(id, `the call could not be decided: ${errorMessage(error)}`);
  }
}

function bad(id: unknown, reason: string): LineAnswer {
  return { id, verdict: "deny", outcome: "deny", risk: "high", rules: ["policy-check/bad-line"], reason };
}
