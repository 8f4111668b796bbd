import { expect, test } from "vitest";
import { droppedUris, mentionDropped } from "#composer/dropped-files";
import type { ReplControl } from "#control/repl-control";

function data(types: Readonly<Record<string, string>>): DataTransfer {
  return { types: Object.keys(types), getData: (type: string) => types[type] ?? "" } as unknown as DataTransfer;
}

function control(namesOfDropped?: (uris: readonly string[]) => Promise<readonly string[]>) {
  const mentioned: (readonly string[])[] = [];
  const turns = { addMentions: (mentions: readonly string[]) => void mentioned.push(mentions) };
  return { control: { host: { namesOfDropped }, turns } as unknown as ReplControl, mentioned };
}

test("the editor's own list is believed before the general one; comments are left out", () => {
  const { control: inEditor } = control(async () => []);
  const both = data({
    "text/uri-list": "file:///w/a",
    "application/vnd.code.uri-list": "# two\r\nfile:///w/a\r\nfile:///w/b",
  });
  expect(droppedUris(inEditor, both)).toEqual(["file:///w/a", "file:///w/b"]);
});

test("text is not a file, and a page has no files of an editor", () => {
  const { control: inEditor } = control(async () => []);
  expect(droppedUris(inEditor, data({ "text/plain": "file:///w/a" }))).toBeUndefined();
  expect(droppedUris(control().control, data({ "text/uri-list": "file:///w/a" }))).toBeUndefined();
});

test("files of the workspace are mentioned; what is left out is told", async () => {
  const { control: inEditor, mentioned } = control(async () => ["src/a.ts", "with space.md"]);
  const problems = await mentionDropped(inEditor, [
    "file:///w/src/a.ts",
    "file:///w/with%20space.md",
    "file:///etc/hosts",
  ]);
  expect(mentioned).toEqual([["@src/a.ts", '@"with space.md"']]);
  expect(problems).toEqual(["Only files of this workspace can be added: 1 left out."]);
});

test("an editor that does not answer loses nothing silently", async () => {
  const { control: inEditor, mentioned } = control(async () => {
    throw new Error("gone");
  });
  expect(await mentionDropped(inEditor, ["file:///w/a"])).toEqual([
    "Only files of this workspace can be added: 1 left out.",
  ]);
  expect(mentioned).toEqual([]);
});
