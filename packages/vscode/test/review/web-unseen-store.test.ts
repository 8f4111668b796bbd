import { expect, test, vi } from "vitest";
import { unseenStore } from "../../src/web/unseen-store.ts";

const disk = vi.hoisted(() => new Map<string, Uint8Array>());
vi.mock("vscode", () => {
  class FileSystemError extends Error {
    readonly code = "FileNotFound";
  }
  return {
    FileSystemError,
    Uri: { joinPath: (folder: { path: string }, name: string) => ({ path: `${folder.path}/${name}` }) },
    workspace: {
      fs: {
        createDirectory: async () => undefined,
        readFile: async ({ path }: { path: string }) => {
          const bytes = disk.get(path);
          if (bytes === undefined) throw new FileSystemError();
          return bytes;
        },
        writeFile: async ({ path }: { path: string }, bytes: Uint8Array) => void disk.set(path, bytes),
      },
    },
  };
});

test("what is kept for one folder of a workspace is not found in another", async () => {
  const { Uri } = await import("vscode");
  const storage = Uri.joinPath({ path: "" } as never, "storage");
  await unseenStore(storage, "one.json").save("{}");
  const found = await Promise.all(["one.json", "two.json"].map((name) => unseenStore(storage, name).load()));
  expect(found).toEqual(["{}", undefined]);
});
