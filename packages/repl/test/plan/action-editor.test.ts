// @vitest-environment happy-dom
import { h, render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, expect, test, vi } from "vitest";
import { ActionEditor } from "#plan/action-editor.tsx";

vi.mock("#look/code-editor", () => {
  throw new Error("A plain field does the same.");
});

const root = document.body.appendChild(document.createElement("div"));
afterEach(() => render(null, root));

function shown(text: string): readonly string[] {
  const submitted: string[] = [];
  const action = { field: "content", text, path: "a.txt" } as const;
  const onSubmit = (edited: string) => void submitted.push(edited);
  render(h(ActionEditor, { action, busy: false, onSubmit }), root);
  return submitted;
}

const press = (name: string) =>
  act(() => [...root.querySelectorAll("button")].find(({ textContent }) => textContent === name)?.click());

test("an edited file keeps its line endings", async () => {
  const submitted = shown("one\r\ntwo\r\nthree\n");
  await press("Edit file");
  const field = await vi.waitUntil(() => root.querySelector("textarea"));
  expect(field.value).toBe("one\ntwo\nthree\n");
  field.value = "one\n2\nnew\nthree\n";
  await press("Submit as a new draft");
  expect(submitted).toEqual(["one\r\n2\r\nnew\r\nthree\n"]);
});

test("what a field would change is not edited", async () => {
  shown("one\rtwo\n");
  await press("Edit file");
  expect(root.querySelector(".plan-action-editor")).toBeNull();
  expect(root.querySelector("button")?.disabled).toBe(true);
});
