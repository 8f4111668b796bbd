import { builtInTools } from "@gennai/protocol/built-in-tools";

/** A call as the caller wrote it, converted into a call of one of our tools. */
export interface NamedCall {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
}

const names = new Map([...builtInTools.keys()].map((name) => [name.toLowerCase(), name]));
const otherNames: Readonly<Record<string, string>> = { find: "Glob", shell: "Bash", terminal: "RunInTerminal" };

/**
 * Our tool name and input for a call: accepts our own names in any letter case, and names and fields of other agents (`find`,
 * `path`, `oldText`). If only a file's path is given, the rest is filled in, because rules look at the path.
 */
export function namedCall(tool: string, input: Readonly<Record<string, unknown>>): NamedCall {
  const lower = tool.toLowerCase();
  const name = names.get(lower) ?? otherNames[lower] ?? tool;
  const path = input["file_path"] ?? input["path"] ?? input["filePath"];
  const given = (...fields: readonly string[]) =>
    Object.fromEntries(fields.flatMap((field) => (input[field] === undefined ? [] : [[field, input[field]]])));
  switch (name) {
    case "Bash":
    case "RunInTerminal":
      return { name, input: { command: input["command"], ...given("cwd") } };
    case "Read":
    case "Delete":
      return { name, input: { file_path: path } };
    case "Write":
      return { name, input: { file_path: path, content: input["content"] ?? input["text"] ?? "\n" } };
    case "Edit":
      return {
        name,
        input: {
          file_path: path,
          old_string: input["old_string"] ?? input["oldText"] ?? input["old_str"] ?? "a",
          new_string: input["new_string"] ?? input["newText"] ?? input["new_str"] ?? "b",
        },
      };
    case "MultiEdit":
      return { name, input: { file_path: path, edits: input["edits"] ?? [{ old_string: "a", new_string: "b" }] } };
    case "Move":
      return { name, input: { from: input["from"] ?? input["source"] ?? path, to: input["to"] ?? input["target"] } };
    case "Grep":
      return { name, input: { pattern: input["pattern"] ?? ".", ...searchedPath(path), ...given("glob") } };
    case "Glob":
      return { name, input: { pattern: input["pattern"] ?? input["glob"] ?? "**", ...searchedPath(path) } };
    case "LS":
      return { name, input: searchedPath(path) };
    default:
      return { name, input };
  }
}

function searchedPath(path: unknown): Readonly<Record<string, unknown>> {
  return path === undefined || path === null ? {} : { path };
}
