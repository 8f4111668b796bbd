import { resolve } from "node:path";
import type { ToolCallLocation, ToolKind } from "@agentclientprotocol/sdk";
import { callSubject } from "@gennai/client/view/call-subject";
import { builtInTools } from "@gennai/protocol/built-in-tools";
import { parsedJson, recordOf } from "@gennai/protocol/json-value";

/** How an editor draws a call; tools of MCP servers are `other`. */
export function toolKind(name: string): ToolKind {
  return builtInTools.get(name)?.kind ?? "other";
}

/** Characters of a title; the arguments themselves go along whole. */
const maxTitle = 200;

/** A line about a call, and the file that it is about. @param argumentsJson as the model gave them; may be broken */
export function shownCall(
  name: string,
  argumentsJson: string,
  workingDir: string,
): { readonly title: string; readonly locations: ToolCallLocation[]; readonly rawInput: unknown } {
  const { file_path, notebook_path, path, offset } = recordOf(parsedJson(argumentsJson));
  const files = [file_path, notebook_path, toolKind(name) === "read" ? path : undefined];
  const file = files.find((each) => typeof each === "string");
  const title = `${name} ${callSubject(argumentsJson)}`.trim();
  return {
    title: title.length > maxTitle ? `${title.slice(0, maxTitle - 1)}…` : title,
    locations:
      file === undefined ? [] : [{ path: resolve(workingDir, file), line: typeof offset === "number" ? offset : null }],
    rawInput: parsedJson(argumentsJson) ?? argumentsJson,
  };
}
