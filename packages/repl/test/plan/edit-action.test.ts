import { expect, test } from "vitest";
import { editableAction, withEditedAction } from "#plan/edit-action";

const plan = {
  id: "p",
  steps: [
    { id: "one", actions: [{ type: "command", command: "npm test" }] },
    {
      id: "two",
      actions: [
        { type: "file_write", path: "src/a.ts", content: "one\n" },
        { type: "file_patch", path: "src/b.ts", patch: "--- a\n+++ b\n" },
      ],
    },
  ],
};
const planJson = JSON.stringify(plan);

test.each([
  ["one", 0, { field: "command", text: "npm test", path: "command.sh" }],
  ["two", 0, { field: "content", text: "one\n", path: "src/a.ts" }],
  ["two", 1, { field: "patch", text: "--- a\n+++ b\n", path: "patch.diff" }],
  ["two", 2, undefined],
  ["three", 0, undefined],
])("what is edited of step %s, action %s", (stepId, index, wanted) => {
  expect(editableAction(planJson, stepId, index)).toEqual(wanted);
});

test("one text is another, and all else is as it was", () => {
  const edited: unknown = JSON.parse(withEditedAction(planJson, "two", 1, "another"));
  const expected = structuredClone(plan);
  const [, two] = expected.steps;
  if (two?.actions[1] !== undefined) Object.assign(two.actions[1], { patch: "another" });
  expect(edited).toEqual(expected);
});

test("an action that is not there is not made up", () => {
  expect(() => withEditedAction(planJson, "two", 7, "x")).toThrow("no such action");
  expect(editableAction("no json", "one", 0)).toBeUndefined();
});
