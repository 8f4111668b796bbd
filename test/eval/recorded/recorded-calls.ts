import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { type AgentCall, asOurTool } from "./other-agents.ts";

/** A call as another agent's model made it, and as it would be made here: its tool by our name, its arguments untouched. */
export interface RecordedCall extends AgentCall {
  /** Of which file, for people. */
  readonly from: string;
  /** Our tool; undefined if none corresponds. */
  readonly ours: AgentCall | undefined;
  /** Absolute directory that the agent worked in; empty when the transcript does not say. */
  readonly cwd: string;
}

/**
 * The calls in a transcript, each once: lines of JSON or one JSON text, of whichever agent, since all of them write a call as an
 * object of a few known shapes. What is no JSON has none.
 */
export function recordedCalls(file: string): readonly RecordedCall[] {
  const calls = new Map<string, RecordedCall>();
  let cwd = "";
  for (const value of jsonValues(readFileSync(file, "utf8"))) {
    visit(value, (object) => {
      if (typeof object["cwd"] === "string" && object["cwd"].startsWith("/")) cwd ||= object["cwd"];
      const call = callIn(object);
      if (call === undefined) return;
      const id = `${call.tool} ${JSON.stringify(call.input)}`;
      if (!calls.has(id)) calls.set(id, { ...call, from: basename(file), ours: asOurTool(call), cwd });
    });
  }
  return [...calls.values()];
}

function* jsonValues(text: string): Generator<unknown> {
  const whole = parsed(text);
  if (whole !== undefined) {
    yield whole;
    return;
  }
  for (const line of text.split("\n")) {
    const value = parsed(line);
    if (value !== undefined) yield value;
  }
}

type Json = Readonly<Record<string, unknown>>;

/** `tool_use` (Anthropic), `toolCall` (pi), `function_call` (OpenAI responses, codex), `functionCall` (Gemini), `function` in `tool_calls`. */
function callIn(object: Json): AgentCall | undefined {
  const { type, name, input, arguments: args } = object;
  if (type === "tool_use" && typeof name === "string") return call(name, input);
  if (type === "toolCall" && typeof name === "string") return call(name, args);
  if (type === "function_call" && typeof name === "string") return call(name, args);
  if (type === "custom_tool_call" && typeof name === "string") return call(name, { input });
  const { function: called, functionCall: gemini } = object;
  if (isObject(called) && typeof called["name"] === "string" && "arguments" in called) {
    return call(called["name"], called["arguments"]);
  }
  if (isObject(gemini) && typeof gemini["name"] === "string") return call(gemini["name"], gemini["args"] ?? {});
  // opencode: a part with the state of its tool.
  const { tool, state } = object;
  if (type === "tool" && typeof tool === "string" && isObject(state)) return call(tool, state["input"]);
  return undefined;
}

function call(tool: string, input: unknown): AgentCall | undefined {
  const value = typeof input === "string" ? parsed(input) : input;
  return isObject(value) ? { tool, input: value } : undefined;
}

function visit(value: unknown, onObject: (object: Json) => void): void {
  if (Array.isArray(value)) for (const each of value) visit(each, onObject);
  if (!isObject(value)) return;
  onObject(value);
  for (const each of Object.values(value)) if (typeof each === "object") visit(each, onObject);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
