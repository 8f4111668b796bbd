import { isRecord, parsedJson } from "@gennai/protocol/json-value";
import { plural } from "@gennai/protocol/plural";

/** Arguments that say by themselves what a call is about, the most telling first. */
const telling: readonly string[] = [
  ...["command", "file_path", "notebook_path", "pattern", "query", "url", "path"],
  ...["title", "summary", "intent_id", "name", "prompt"],
];

/** One line about what a call does; empty where no argument tells it. */
export function callSubject(argumentsJson: string): string {
  const values = callArguments(argumentsJson);
  const { from, to, changes } = values;
  // What is moved.
  if (typeof from === "string" && typeof to === "string") return oneLine(`${from} → ${to}`);
  for (const name of telling) {
    const value = values[name];
    if (typeof value === "string" && value !== "") return oneLine(value);
  }
  const [question] = recordsIn(values["questions"]);
  if (typeof question?.["question"] === "string") return oneLine(question["question"]);
  const todos = recordsIn(values["todos"]);
  if (todos.length > 0) return `${todos.filter(({ status }) => status === "completed").length}/${todos.length} done`;
  return Array.isArray(changes) ? plural(changes.length, "change") : "";
}

function recordsIn(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

/** A call's arguments; while the model writes them, those of its strings that are complete. */
export function callArguments(argumentsJson: string): Readonly<Record<string, unknown>> {
  const whole = parsedJson(argumentsJson);
  if (isRecord(whole)) return whole;
  const found: Record<string, unknown> = {};
  for (const [, name = "", text = ""] of argumentsJson.slice(0, 2000).matchAll(/"(\w+)"\s*:\s*("(?:[^"\\]|\\.)*")/g)) {
    const value = parsedJson(text);
    if (typeof value === "string") found[name] ??= value;
  }
  return found;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
