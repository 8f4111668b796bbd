import { beforeEach, expect, test, vi } from "vitest";
import { terminalSelection } from "../../src/commands/add-commands.ts";

const editor = vi.hoisted(() => ({ clipboard: "", selected: undefined as string | undefined, fails: false }));
vi.mock("vscode", () => ({
  env: {
    clipboard: {
      readText: async () => editor.clipboard,
      writeText: async (text: string) => {
        editor.clipboard = text;
      },
    },
  },
  commands: {
    executeCommand: async () => {
      if (editor.fails) throw new Error("No terminal.");
      if (editor.selected !== undefined) editor.clipboard = editor.selected;
    },
  },
}));

beforeEach(() => {
  Object.assign(editor, { clipboard: "the user's own", selected: undefined, fails: false });
});

test("what is selected, and the clipboard is as it was", async () => {
  editor.selected = "FAIL src/a.test.ts";
  expect(await terminalSelection()).toBe("FAIL src/a.test.ts");
  expect(editor.clipboard).toBe("the user's own");
});

test("where nothing is selected the clipboard is not taken for it", async () => {
  expect(await terminalSelection()).toBe("");
  expect(editor.clipboard).toBe("the user's own");
});

test("a failure loses nothing of the clipboard", async () => {
  editor.fails = true;
  await expect(terminalSelection()).rejects.toThrow("No terminal.");
  expect(editor.clipboard).toBe("the user's own");
});
