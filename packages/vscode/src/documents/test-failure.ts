import * as vscode from "vscode";

/**
 * The message of a failed test, as the menu of a test's message passes it (`{ test, message }`); undefined for anything else.
 * @param nameOf workspace path of a file; undefined if it is outside
 */
export function testFailureText(
  shown: unknown,
  nameOf: (uri: vscode.Uri) => string | undefined,
): { readonly title: string; readonly text: string } | undefined {
  const message = field(shown, "message");
  const words = textOf(field(message, "message"));
  if (words === undefined) return undefined;
  const test = field(shown, "test");
  const label = textOf(field(test, "label")) ?? "";
  const [expected, actual] = [textOf(field(message, "expectedOutput")), textOf(field(message, "actualOutput"))];
  const place = placeOf(field(message, "location"), nameOf);
  const parts = [
    place === undefined ? undefined : `At ${place}`,
    words,
    expected === undefined ? undefined : `Expected:\n${expected}`,
    actual === undefined ? undefined : `Actual:\n${actual}`,
  ];
  return { title: `Failed test ${label}`.trim(), text: parts.filter((part) => part !== undefined).join("\n\n") };
}

function placeOf(location: unknown, nameOf: (uri: vscode.Uri) => string | undefined): string | undefined {
  const [uri, range] = [field(location, "uri"), field(location, "range")];
  const name = uri instanceof vscode.Uri ? nameOf(uri) : undefined;
  if (name === undefined) return undefined;
  return range instanceof vscode.Range ? `${name}:${range.start.line + 1}` : name;
}

/** The text of a string or of a Markdown value. */
function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  const text = field(value, "value");
  return typeof text === "string" ? text : undefined;
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}
