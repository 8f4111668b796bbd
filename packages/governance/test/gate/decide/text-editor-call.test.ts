import { expect, test } from "vitest";
import { textEditorCall } from "#gate/decide/text-editor-call";

const meant = (args: Readonly<Record<string, unknown>>) => {
  const { name, argumentsJson } = textEditorCall({
    id: "1",
    name: "str_replace_based_edit_tool",
    argumentsJson: JSON.stringify(args),
  });
  return { name, args: JSON.parse(argumentsJson) as unknown };
};

test.each([
  [{ command: "view", path: "a", view_range: [1, 2] }, "Read", { file_path: "a", view_range: [1, 2] }],
  [{ command: "create", path: "a", file_text: "t" }, "Write", { file_path: "a", content: "t" }],
  [
    { command: "str_replace", path: "a", old_str: "b", new_str: null },
    "Edit",
    { file_path: "a", old_string: "b", new_string: "" },
  ],
  [
    { command: "insert", path: "a", insert_line: 1, new_str: "b" },
    "Edit",
    { file_path: "a", insert_line: 1, new_string: "b" },
  ],
  [
    { command: "insert", path: "a", insert_line: 0, insert_text: "b" },
    "Edit",
    { file_path: "a", insert_line: 0, new_string: "b" },
  ],
])("%j is a call of %s", (args, name, wanted) => {
  expect(meant(args)).toEqual({ name, args: wanted });
});

// Their schemas refuse a name that they do not know.
test.each([
  [{ command: "view", path: "a", file_path: "b" }, "path"],
  [{ command: "create", path: "a", file_text: "t", content: "other" }, "file_text"],
  [{ command: "str_replace", path: "a", old_str: "b", old_string: "c" }, "old_str"],
  [{ command: "str_replace", path: "a", old_str: "b", new_str: "c", new_string: "d" }, "new_str"],
  [{ command: "insert", path: "a", insert_text: "b", new_str: "c" }, "new_str"],
])("%j keeps what is given under two names under both", (args, kept) => {
  expect(meant(args).args).toMatchObject({ [kept]: Reflect.get(args, kept) });
});
