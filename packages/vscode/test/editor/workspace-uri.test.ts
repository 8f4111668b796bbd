import { symlink } from "node:fs/promises";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test, vi } from "vitest";
import { nameOfUri, uriInWorkspace } from "../../src/editor/workspace-uri.ts";

vi.mock("vscode", () => ({
  workspace: { workspaceFolders: undefined },
  Uri: { file: (path: string) => ({ scheme: "file", fsPath: path }) },
}));

test("a file of a folder that is opened through a link is named below the link, and no way leads out", async () => {
  await using directory = await temporaryDirectory({ "real/a.txt": "a\n", "outside.txt": "x\n" });
  const root = directory.path("link");
  await symlink(directory.path("real"), root);
  await symlink(directory.path("outside.txt"), directory.path("real/out.txt"));
  const uri = await uriInWorkspace(root, "a.txt");
  expect([uri.fsPath, nameOfUri(root, uri)]).toEqual([directory.path("link/a.txt"), "a.txt"]);
  for (const name of ["out.txt", "../outside.txt"]) {
    await expect(uriInWorkspace(root, name)).rejects.toMatchObject({ code: "outside_workspace" });
  }
});
