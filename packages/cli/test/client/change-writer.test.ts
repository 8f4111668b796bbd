import { sha256Hex } from "@gennai/protocol/digest";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { ChangeWriter, finalChange } from "#client/headless-editor";
import { proposedChange } from "../../../protocol/test/model/session/proposed-change.ts";

const proposed = proposedChange({ id: "c", newContent: "new\n", baseSha256: sha256Hex("old\n") });

test("writes a set, each against its base", async () => {
  await using state = await temporaryDirectory();
  await using workspace = await temporaryDirectory({ "a.txt": "old\n", "b.txt": "b\n" });
  const writer = new ChangeWriter(workspace.root, state.root);
  const files = await writer.write([
    finalChange(proposed),
    { operation: "create", path: "new/c.txt", text: "\uFEFFc\r\n" },
    { operation: "delete", path: "b.txt", baseSha256: sha256Hex("b\n") },
  ]);
  expect(files.map(({ path, operation }) => `${operation} ${path}`)).toEqual([
    "update a.txt",
    "create new/c.txt",
    "delete b.txt",
  ]);
  expect(await workspace.read("new/c.txt")).toBe("\uFEFFc\r\n");
  await expect(workspace.read("b.txt")).rejects.toThrow("ENOENT");
});

test("writes nothing when one of them moved on", async () => {
  await using state = await temporaryDirectory();
  await using workspace = await temporaryDirectory({ "a.txt": "old\n", "b.txt": "changed\n" });
  const writer = new ChangeWriter(workspace.root, state.root);
  const changes = [
    finalChange(proposed),
    { operation: "update", path: "b.txt", text: "x", baseSha256: sha256Hex("b\n") } as const,
  ];
  await expect(writer.write(changes)).rejects.toMatchObject({ code: "stale_file" });
  expect(await workspace.read("a.txt")).toBe("old\n");
});

test("what conflicts is never written silently", () => {
  expect(() => finalChange({ ...proposed, conflict: true })).toThrow(/conflict/);
});
