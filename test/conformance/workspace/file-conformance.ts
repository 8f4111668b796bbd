import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

import { type OpenWorkspace, sha256, useWorkspace } from "./use-workspace.ts";

/** Looking at and reading files, and listing directories. */
export function describeFiles(open: OpenWorkspace): void {
  const at = useWorkspace(open);

  describe(`stat, read, list`, () => {
    test("tells what is there", async () => {
      chmodSync(at.file("src/run.sh", "12345"), 0o750);
      expect(await at.workspace.stat(await at.workspace.resolve("src/run.sh"))).toEqual({
        kind: "file",
        size: 5,
        mode: 0o750,
      });
      expect(await at.workspace.stat(await at.workspace.resolve("src"))).toMatchObject({ kind: "directory" });
      expect(await at.workspace.stat(await at.workspace.resolve("."))).toMatchObject({ kind: "directory" });
      expect(await at.workspace.stat(await at.workspace.resolve("src/none"))).toBeUndefined();
      expect(await at.workspace.stat(await at.workspace.resolve("no/such/none"))).toBeUndefined();
    });

    test.each([
      ["empty", new Uint8Array()],
      ["small", Buffer.from("hello\r\n")],
      ["binary", Buffer.from([0, 1, 2, 255])],
      ["of some MiB", Buffer.alloc(3_000_000, "abcdefg")],
    ])("reads a file: %s", async (_, bytes) => {
      at.file("x", bytes);
      const read = await at.workspace.read(await at.workspace.resolve("x"), { maxBytes: bytes.length });
      expect(read.sha256).toBe(sha256(bytes));
      expect(Buffer.compare(read.bytes, bytes)).toBe(0);
    });

    test("refuses what is too large, missing or no regular file, and never blocks", async () => {
      at.file("large", "12345");
      execFileSync("mkfifo", [join(at.directory, "fifo")]);
      const server = createServer().listen(join(at.directory, "socket"));
      try {
        await new Promise((resolve) => server.once("listening", resolve));
        const rows = { large: "too_large", missing: "not_found", "a/missing": "not_found", fifo: "not_a_file" };
        const more = { socket: "not_a_file", ".": "not_a_file" };
        for (const [raw, code] of Object.entries({ ...rows, ...more })) {
          const path = await at.workspace.resolve(raw);
          await expect(at.workspace.read(path, { maxBytes: 4 })).rejects.toMatchObject({ code, name: "ToolFailure" });
        }
        await expect(at.workspace.apply([await at.update("fifo", "", "x")])).rejects.toMatchObject({
          code: "not_a_file",
        });
      } finally {
        server.close();
      }
    });

    test("a directory or FIFO put in place of a resolved file is refused", async () => {
      at.file("x", "x");
      const path = await at.workspace.resolve("x");
      rmSync(join(at.directory, "x"));
      mkdirSync(join(at.directory, "x"));
      await expect(at.workspace.read(path, { maxBytes: 9 })).rejects.toMatchObject({ code: "not_a_file" });
    });

    test("a link put in place of a resolved file or directory is not followed", async () => {
      writeFileSync(join(at.outside, "x"), "secret");
      at.file("dir/x", "x");
      const path = await at.workspace.resolve("dir/x");
      rmSync(join(at.directory, "dir/x"));
      symlinkSync(join(at.outside, "x"), join(at.directory, "dir/x"));
      await expect(at.workspace.read(path, { maxBytes: 9 })).rejects.toMatchObject({ code: "path_changed" });
      expect(await at.workspace.stat(path)).toMatchObject({ kind: "other" });
      rmSync(join(at.directory, "dir"), { recursive: true });
      symlinkSync(at.outside, join(at.directory, "dir"));
      await expect(at.workspace.read(path, { maxBytes: 9 })).rejects.toMatchObject({
        code: "path_changed",
        failureClass: "permission_denied",
      });
      await expect(
        at.workspace.apply([{ operation: "update", path, bytes: Buffer.from("y"), baseSha256: sha256("secret") }]),
      ).rejects.toMatchObject({ code: "path_changed" });
      expect(readFileSync(join(at.outside, "x"), "utf8")).toBe("secret");
      expect(readdirSync(at.outside)).toEqual(["x"]);
    });

    test("an aborted read rejects with the signal's reason", async () => {
      at.file("x", "x");
      const reason = new Error("stopped");
      await expect(
        at.workspace.read(await at.workspace.resolve("x"), { maxBytes: 9, signal: AbortSignal.abort(reason) }),
      ).rejects.toBe(reason);
    });

    test("lists names and kinds in order, without what is ignored", async () => {
      for (const path of ["b.ts", "a.log", ".env", "dist/x", "node_modules/y", "src/z", "src/gen/q"]) at.file(path, "");
      symlinkSync("/etc", join(at.directory, "etc"));
      const root = await at.workspace.resolve(".");
      expect(await at.workspace.list(root, { ignore: ["node_modules/", "*.log", "**/dist/**"], limit: 10 })).toEqual({
        entries: [
          { name: ".env", kind: "file" },
          { name: "b.ts", kind: "file" },
          { name: "etc", kind: "link" },
          { name: "src", kind: "directory" },
        ],
        truncated: false,
      });
      expect(await at.workspace.list(root, { ignore: [], limit: 2 })).toMatchObject({ truncated: true });
      const src = await at.workspace.resolve("src");
      expect((await at.workspace.list(src, { ignore: ["src/gen"], limit: 9 })).entries).toEqual([
        { name: "z", kind: "file" },
      ]);
      await expect(
        at.workspace.list(await at.workspace.resolve("none"), { ignore: [], limit: 9 }),
      ).rejects.toMatchObject({ code: "not_found" });
    });
  });
}
