import { canonicalJson } from "@gennai/protocol/canonical-json";
import { errorMessage } from "@gennai/protocol/error-message";
import { parseStrictJson } from "@gennai/protocol/strict-json";
import * as z from "zod";
import type { ToolCall } from "../../gate-journal.ts";
import type { Redactor } from "../../redaction.ts";
import type { Tool } from "../../tool.ts";
import type { DecidedCall, Refusal } from "./decided-call.ts";
import { redactedError } from "./redacted-reason.ts";
import { usualForm } from "./usual-form.ts";

/** UTF-16 code units of arguments: more than the largest file that can be written. */
const maxArguments = 64 * 1024 * 1024;
const maxArgumentDepth = 256;

/** `mended`: the model wrote them in another form. */
export type ParsedArguments =
  | { readonly ok: true; readonly args: unknown; readonly mended: boolean }
  | { readonly ok: false; readonly problem: string };

export function parseArguments(tool: Tool, json: string): ParsedArguments {
  let value: unknown;
  try {
    // A duplicate key, or `__proto__`, may be read differently by the approver and by the code that runs it.
    value = json === "" ? {} : parseStrictJson(json, { maxLength: maxArguments, maxDepth: maxArgumentDepth });
    // Refuses what JSON.parse lets through and no record could hold: lone surrogates, unsafe integers.
    canonicalJson(value);
  } catch (error) {
    const problem = errorMessage(error);
    return { ok: false, problem: `The arguments of ${tool.name} are not valid JSON: ${problem}` };
  }
  const parameters = parametersFor(tool, value);
  const result = parameters.safeParse(value);
  if (result.success) return { ok: true, args: result.data, mended: false };
  // Twice: what has its own name only now may still be written as text.
  const renamed = usualForm(tool, value, result.error.issues);
  const tried = parameters.safeParse(renamed);
  const mended = tried.success ? tried : parameters.safeParse(usualForm(tool, renamed, tried.error.issues));
  if (mended.success) return { ok: true, args: mended.data, mended: true };
  return { ok: false, problem: `The arguments of ${tool.name} do not fit: ${z.prettifyError(mended.error)}` };
}

function parametersFor(tool: Tool, value: unknown): z.ZodType {
  if (typeof value !== "object" || value === null) return tool.parameters;
  const form = tool.otherForms?.find(({ mark }) => Object.hasOwn(value, mark));
  return form?.parameters ?? tool.parameters;
}

/** @param refusal.argumentsJson where they could be read; by default as the model wrote them */
export async function invalidCall(
  call: ToolCall,
  refusal: Refusal & { readonly argumentsJson?: string },
  redactor: Redactor,
): Promise<DecidedCall> {
  const { error, failureClass, argumentsJson = call.argumentsJson.slice(0, 4096) } = refusal;
  const input = await redactor.redact(argumentsJson);
  return { type: "invalid", call, error: await redactedError(error, redactor), failureClass, effects: [], input };
}

/** Tools that are there once the user wants them, and what the user does for it. */
const wanted: ReadonlyMap<string, string> = new Map([
  ["WebFetch", "Pages are read once the user lists their hosts in web.json of Gennai's configuration directory. "],
  [
    "WebSearch",
    "There is a search once the user sets BRAVE_API_KEY, EXA_API_KEY or TAVILY_API_KEY, or names a provider in web.json. ",
  ],
]);

export function unknownTool({ name }: ToolCall, tools: ReadonlyMap<string, Tool>): Refusal {
  const error = {
    code: "unknown_tool",
    message: `There is no tool named ${JSON.stringify(name.slice(0, 100))} here.`,
    rule: "gate/registry",
    hint: `${wanted.get(name) ?? ""}Tools: ${[...tools.keys()].join(", ") || "none"}.`,
    retryable: false,
  } as const;
  return { error, failureClass: "tool_unavailable" };
}

/** The tool is there: it was called wrongly. */
export function badArguments({ name }: Tool, problem: string): Refusal {
  const error = {
    code: "bad_arguments",
    message: problem,
    rule: "gate/schema",
    hint: `Call ${name} again with arguments that fit its schema.`,
    retryable: true,
  } as const;
  return { error, failureClass: "command_error" };
}
