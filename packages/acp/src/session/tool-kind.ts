import { resolve } from "node:path";
import type { ToolCallLocation, ToolKind } from "@agentclientprotocol/sdk";
import { builtInTools } from "@gennai/protocol/built-in-tools";
import * as z from "zod";

/** How an editor draws a call; tools of MCP servers are `other`. */
export function toolKind(name: string): ToolKind {
  return builtInTools.get(name)?.kind ?? "other";
}

const shownArguments = z.object({
  file_path: z.string().optional(),
  notebook_path: z.string().optional(),
  path: z.string().optional(),
  command: z.string().optional(),
  pattern: z.string().optional(),
  url: z.string().optional(),
  query: z.string().optional(),
  offset: z.number().optional(),
});

/** Characters of a title; the arguments themselves go along whole. */
const maxTitle = 200;

/** A line about a call, and the file that it is about. @param argumentsJson as the model gave them; may be broken */
export function shownCall(
  name: string,
  argumentsJson: string,
  workingDir: string,
): { readonly title: string; readonly locations: ToolCallLocation[]; readonly rawInput: unknown } {
  const rawInput = parsed(argumentsJson);
  const { data } = shownArguments.safeParse(rawInput);
  const file = data?.file_path ?? data?.notebook_path ?? (toolKind(name) === "read" ? data?.path : undefined);
  const subject = data?.command ?? file ?? data?.pattern ?? data?.query ?? data?.url ?? data?.path ?? "";
  const title = [name, subject.replace(/\s+/g, " ")].filter((part) => part !== "").join(" ");
  return {
    title: title.length > maxTitle ? `${title.slice(0, maxTitle - 1)}…` : title,
    locations: file === undefined ? [] : [{ path: resolve(workingDir, file), line: data?.offset ?? null }],
    rawInput,
  };
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
}
