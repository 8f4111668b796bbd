import type { Message, Model, ModelEvent, ToolDefinition } from "@gennai/agent/model";
import picomatch from "picomatch";
import { requestWith } from "../request-with.ts";

type Args = Readonly<Record<string, unknown>>;
/** `raw`: a tool that ran and failed. */
type Answer =
  | string
  | { readonly raw: string }
  | { readonly code: string; readonly message: string; readonly hint?: string; readonly retryable?: boolean };

/** Just enough of the tools, with the results the real ones give, over files in memory. */
export class ToolWorld {
  readonly files: Map<string, string>;
  readonly calls: string[] = [];
  /** Consulted before a tool runs: an error to give instead, once or always. */
  readonly refuse: (name: string, args: Args, call: number) => Answer | undefined;
  proposals: unknown[] = [];
  /** The last that was selected. */
  intent = "";

  constructor(files: Record<string, string>, refuse: ToolWorld["refuse"] = () => undefined) {
    this.files = new Map(Object.entries(files));
    this.refuse = refuse;
  }

  call(name: string, argumentsJson: string): { output: string; isError: boolean } {
    const args: Args = JSON.parse(argumentsJson);
    const subject = ["file_path", "pattern", "command", "path", "from", "intent_id"]
      .map((name) => text(args, name))
      .find((value) => value !== "");
    this.calls.push(`${name} ${subject ?? ""}`.trim());
    const answer = this.refuse(name, args, this.calls.length) ?? this.#run(name, args);
    if (typeof answer === "string") return { output: answer, isError: false };
    if ("raw" in answer) return { output: answer.raw, isError: true };
    return { output: JSON.stringify({ error: { retryable: false, ...answer } }), isError: true };
  }

  #run(name: string, args: Args): Answer {
    const path = text(args, "file_path");
    const content = this.files.get(path);
    const missing = { code: "not_found", message: `${path} does not exist.` };
    switch (name) {
      case "Read": {
        if (content === undefined) return missing;
        if (content === "") return "[empty file]";
        const all = content.replace(/\n$/, "").split("\n");
        const offset = typeof args["offset"] === "number" ? args["offset"] : 1;
        const lines = all.slice(offset - 1, offset + 1999).map((line, index) => `${offset + index}\t${line}`);
        const end = offset - 1 + lines.length;
        if (end < all.length) lines.push(`[lines ${offset}-${end} of ${all.length}; read on with offset ${end + 1}]`);
        else if (!content.endsWith("\n")) lines.push("[no newline at end of file]");
        return lines.join("\n");
      }
      case "Glob": {
        const found = [...this.files.keys()].filter((file) => picomatch.isMatch(file, text(args, "pattern")));
        return found.join("\n") || "[no files found]";
      }
      case "Grep": {
        const pattern = new RegExp(text(args, "pattern"));
        const inScope = [...this.files].filter(
          ([file]) =>
            (args["glob"] === undefined ||
              picomatch.isMatch(file, text(args, "glob"), { basename: !text(args, "glob").includes("/") })) &&
            (args["path"] === undefined || args["path"] === file),
        );
        const hits = inScope.flatMap(([file, body]) =>
          body.split("\n").flatMap((line, index) => (pattern.test(line) ? [`${file}:${index + 1}:${line}`] : [])),
        );
        const files = [...new Set(hits.map((hit) => hit.split(":")[0]))];
        return (args["output_mode"] === "content" ? hits : files).join("\n") || "[no matches]";
      }
      case "select_active_intent":
        this.intent = text(args, "intent_id");
        return "<intent_context/>";
      case "LS":
        return [...this.files.keys()].join("\n");
      case "Write":
        this.files.set(path, text(args, "content"));
        return "Wrote it.";
      case "Edit": {
        if (content === undefined) return missing;
        const count = content.split(text(args, "old_string")).length - 1;
        if (count === 0 || (count > 1 && args["replace_all"] !== true))
          return { code: "no_match", message: "old_string is not unique." };
        this.files.set(
          path,
          content.replaceAll(text(args, "old_string"), () => text(args, "new_string")),
        );
        return "Edited it.";
      }
      case "Delete":
        return this.files.delete(path) ? "Deleted it." : missing;
      case "Bash":
        return text(args, "command").startsWith("fail") ? { raw: "hello\n[exit code 2]" } : "hello\n[exit code 0]";
      case "RunInTerminal":
        return "SENT";
      case "ProposeChanges": {
        const changes: unknown = args["changes"];
        this.proposals.push(changes);
        const list = Array.isArray(changes) ? changes : [];
        const described = list.map(({ path: file, operation }) => ({
          path: file,
          operation,
          unified_diff: "",
          conflict: false,
        }));
        return JSON.stringify({ changes: described, has_conflicts: false, warnings: [] });
      }
      default:
        return { code: "unknown_tool", message: `There is no tool ${name}.` };
    }
  }
}

function text(args: Args, name: string): string {
  const value = args[name];
  return typeof value === "string" ? value : "";
}

export const codeTools = [
  ...["Read", "LS", "Grep", "Glob", "Write", "Edit", "MultiEdit", "Delete", "Bash", "RunInTerminal"],
];
export const editorTools = ["Read", "LS", "Grep", "Glob", "ProposeChanges"];
export const readTools = ["Read", "LS", "Grep", "Glob"];

function definitions(names: readonly string[]): readonly ToolDefinition[] {
  return names.map((name) => ({ name, description: "", inputSchema: { type: "object" } }));
}

/** Plays a whole turn and returns the last text. */
export async function converse(
  model: Model,
  world: ToolWorld,
  text: string,
  tools: readonly string[],
  before: readonly Message[] = [],
): Promise<string> {
  const messages: Message[] = [...before, { role: "user", text }];
  for (let answer = 0; answer < 50; answer += 1) {
    const events = await collect(model, messages, tools);
    const calls = events.flatMap((event) => (event.type === "tool-call" ? [event] : []));
    const said = events.map((event) => (event.type === "text-delta" ? event.text : "")).join("");
    messages.push({ role: "assistant", text: said, toolCalls: calls });
    if (calls.length === 0) return said;
    for (const { id, name, argumentsJson } of calls) {
      if (!tools.includes(name)) throw new Error(`${name} was called but not offered`);
      messages.push({ role: "tool", id, name, ...world.call(name, argumentsJson) });
    }
  }
  throw new Error("the turn does not end");
}

export async function collect(
  model: Model,
  messages: readonly Message[],
  tools: readonly string[],
  signal = new AbortController().signal,
): Promise<readonly ModelEvent[]> {
  const request = requestWith({ messages, tools: definitions(tools), enableThinking: true });
  const events: ModelEvent[] = [];
  for await (const event of model.stream(request, { signal })) events.push(event);
  return events;
}
