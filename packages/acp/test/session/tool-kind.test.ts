import { expect, test } from "vitest";
import { shownCall, toolKind } from "#session/turn-updates";

test.each([
  ["Read", '{"file_path":"src/a.ts","offset":3}', "Read src/a.ts", [{ path: "/w/src/a.ts", line: 3 }]],
  ["Edit", '{"file_path":"/w/b.ts"}', "Edit /w/b.ts", [{ path: "/w/b.ts", line: null }]],
  ["NotebookEdit", '{"notebook_path":"n.ipynb"}', "NotebookEdit n.ipynb", [{ path: "/w/n.ipynb", line: null }]],
  ["LS", '{"path":"src"}', "LS src", [{ path: "/w/src", line: null }]],
  ["Grep", '{"pattern":"x","path":"src"}', "Grep x", []],
  ["Bash", '{"command":"a\\n  b"}', "Bash a b", []],
  ["mcp__x__y", "{}", "mcp__x__y", []],
  ["Bash", "{broken", "Bash", []],
  ["Bash", '{"command":7}', "Bash", []],
] as const)("%s %s is shown as a line and its file", (name, args, title, locations) => {
  expect(shownCall(name, args, "/w")).toMatchObject({ title, locations });
});

test("a title has an end, and broken arguments go along as they are", () => {
  expect(shownCall("Bash", JSON.stringify({ command: "x".repeat(1000) }), "/w").title).toHaveLength(200);
  expect(shownCall("Bash", "{broken", "/w").rawInput).toBe("{broken");
});

test.each([
  ["Read", "read"],
  ["apply_patch", "edit"],
  ["Bash", "execute"],
  ["mcp__x__y", "other"],
] as const)("%s is drawn as %s", (name, kind) => expect(toolKind(name)).toBe(kind));
