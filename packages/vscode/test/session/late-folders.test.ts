import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { foldersKnown, restartWithFolder } from "../../src/session/late-folders.ts";

const editor = vi.hoisted(() => ({
  workspace: {
    workspaceFile: undefined as object | undefined,
    workspaceFolders: undefined as readonly object[] | undefined,
    listeners: new Set<() => void>(),
    onDidChangeWorkspaceFolders(listener: () => void) {
      editor.workspace.listeners.add(listener);
      return { dispose: () => editor.workspace.listeners.delete(listener) };
    },
  },
  commands: { executeCommand: vi.fn<(command: string) => void>() },
}));
vi.mock("vscode", () => editor);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function open(file: object | undefined, folders: readonly object[] | undefined): void {
  editor.workspace.workspaceFile = file;
  editor.workspace.workspaceFolders = folders;
  for (const listener of editor.workspace.listeners) listener();
}

test.each([
  { what: "a folder", file: undefined, folders: [{}] },
  { what: "nothing", file: undefined, folders: undefined },
  { what: "a workspace with its folders", file: {}, folders: [{}, {}] },
])("with $what, nothing is waited for", async ({ file, folders }) => {
  open(file, folders);
  await foldersKnown();
  expect(vi.getTimerCount()).toBe(0);
});

test("the folders of a workspace are waited for, but not for ever", async () => {
  open({}, []);
  let known = false;
  const late = foldersKnown().then(() => (known = true));
  await vi.advanceTimersByTimeAsync(1_000);
  expect(known).toBe(false);
  open({}, [{}]);
  await late;
  open({}, undefined);
  const none = foldersKnown();
  await vi.advanceTimersByTimeAsync(10_000);
  await none;
  expect([vi.getTimerCount(), editor.workspace.listeners.size]).toEqual([0, 0]);
});

test("what was made without a folder is made again when there is one", () => {
  open({}, []);
  const watch = restartWithFolder();
  open({}, []);
  expect(editor.commands.executeCommand).not.toHaveBeenCalled();
  open({}, [{}]);
  expect(editor.commands.executeCommand).toHaveBeenCalledWith("workbench.action.restartExtensionHost");
  watch.dispose();
});
