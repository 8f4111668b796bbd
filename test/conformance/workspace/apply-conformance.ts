import {
  chmodSync,
  linkSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { ToolFailure } from "@gennai/governance/tool-error";
import { describe, expect, test } from "vitest";

import { type OpenWorkspace, sha256, useWorkspace } from "./use-workspace.ts";

/** Changing files. */
export function describeApply(open: OpenWorkspace): void {
  const at = useWorkspace(open);

  describe(`apply`, () => {
    test("creates, updates and deletes, and tells what it did", async () => {
      chmodSync(at.file("run.sh", "old"), 0o755);
      at.file("gone", "bye");
      const applied = await at.workspace.apply([
        await at.create("new/deep/x.ts", "x"),
        await at.update("run.sh", "old", "new"),
        await at.remove("gone", "bye"),
      ]);
      expect(
        applied.map(({ path, operation, before, afterSha256 }) => [
          path.relative,
          operation,
          before?.sha256,
          afterSha256,
        ]),
      ).toEqual([
        ["new/deep/x.ts", "create", undefined, sha256("x")],
        ["run.sh", "update", sha256("old"), sha256("new")],
        ["gone", "delete", sha256("bye"), undefined],
      ]);
      expect(Buffer.from(applied[1]?.before?.bytes ?? []).toString()).toBe("old");
      expect(at.tree()).toEqual(["new", "new/deep", "new/deep/x.ts", "run.sh"]);
      expect(at.content("run.sh")).toBe("new");
      expect(statSync(join(at.directory, "run.sh")).mode & 0o7777).toBe(0o755);
    });

    test("writes bytes as they are", async () => {
      const bytes = Buffer.from("\ufeffa\r\nb\n\0");
      await at.workspace.apply([{ operation: "create", path: await at.workspace.resolve("x"), bytes }]);
      expect(readFileSync(join(at.directory, "x"))).toEqual(bytes);
    });

    test.each([
      ["content changed", "update", (path: string) => writeFileSync(path, "other")],
      ["same size and time, other content", "update", (path: string) => sameStamp(path, "ase!")],
      ["CRLF came in", "update", (path: string) => writeFileSync(path, "base\r\n")],
      ["deleted", "update", (path: string) => rmSync(path)],
      ["its directory deleted", "update", (path: string) => rmSync(join(path, ".."), { recursive: true })],
      ["content changed", "delete", (path: string) => writeFileSync(path, "other")],
      ["deleted", "delete", (path: string) => rmSync(path)],
      [
        "replaced by another file",
        "update",
        (path: string) => {
          writeFileSync(`${path}.2`, "b2");
          renameSync(`${path}.2`, path);
        },
      ],
      [
        "replaced by a link",
        "update",
        (path: string) => {
          rmSync(path);
          symlinkSync("/etc/hosts", path);
        },
      ],
    ] as const)("%s: %s is stale", async (_, operation, meddle) => {
      at.file("dir/x", "base");
      const change =
        operation === "update" ? await at.update("dir/x", "base", "mine") : await at.remove("dir/x", "base");
      meddle(join(at.directory, "dir/x"));
      const before = at.tree();
      const failure = await at.workspace.apply([change]).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(ToolFailure);
      expect(failure).toMatchObject({
        code: "stale_file",
        retryable: true,
        message: expect.stringMatching(/^Stale File: dir\/x/),
      });
      expect(at.tree()).toEqual(before);
    });

    test("a create never replaces what somebody else made", async () => {
      const change = await at.create("x", "mine");
      at.file("x", "theirs");
      await expect(at.workspace.apply([change])).rejects.toMatchObject({ code: "stale_file" });
      expect(at.content("x")).toBe("theirs");
      rmSync(join(at.directory, "x"));
      symlinkSync(join(at.outside, "x"), join(at.directory, "x"));
      await expect(at.workspace.apply([change])).rejects.toMatchObject({ code: "stale_file" });
      expect(readdirSync(at.outside)).toEqual([]);
      await expect(at.workspace.apply([await at.create(".", "")])).rejects.toMatchObject({ code: "not_a_file" });
    });

    test("a base of another file, and two changes of one file, are refused", async () => {
      at.file("x", "x");
      at.file("y", "y");
      await expect(at.workspace.apply([await at.update("x", "y", "z")])).rejects.toMatchObject({ code: "stale_file" });
      await expect(
        at.workspace.apply([await at.update("x", "x", "1"), await at.update("x", "1", "2")]),
      ).rejects.toMatchObject({ code: "duplicate_change" });
      expect(at.content("x")).toBe("x");
    });

    test("its own write is the base of the next", async () => {
      const [first] = await at.workspace.apply([await at.create("x", "1")]);
      const path = await at.workspace.resolve("x");
      await at.workspace.apply([
        { operation: "update", path, bytes: Buffer.from("2"), baseSha256: first?.afterSha256 ?? "" },
      ]);
      expect(at.content("x")).toBe("2");
    });

    test("all or nothing: one stale file and no other is touched", async () => {
      at.file("a", "a");
      at.file("b", "b");
      at.file("c", "c");
      const changes = [
        await at.update("a", "a", "A"),
        await at.remove("b", "b"),
        await at.create("new/d", "d"),
        await at.update("c", "stale", "C"),
      ];
      await expect(at.workspace.apply(changes)).rejects.toMatchObject({ code: "stale_file" });
      expect(at.tree()).toEqual(["a", "b", "c"]);
      expect([at.content("a"), at.content("b"), at.content("c")]).toEqual(["a", "b", "c"]);
    });

    test("all or nothing: what was already applied is taken back", async () => {
      chmodSync(at.file("a", "a"), 0o640);
      at.file("b", "b");
      // The second create needs a directory where the first one puts a file.
      const changes = [
        await at.update("a", "a", "A"),
        await at.remove("b", "b"),
        await at.create("d", "d"),
        await at.create("d/e", "e"),
      ];
      await expect(at.workspace.apply(changes)).rejects.toBeInstanceOf(ToolFailure);
      expect(at.tree()).toEqual(["a", "b"]);
      expect([at.content("a"), at.content("b")]).toEqual(["a", "b"]);
      expect(statSync(join(at.directory, "a")).mode & 0o777).toBe(0o640);
    });

    test("a hard link elsewhere keeps its content", async () => {
      const outside = join(at.outside, "kept");
      writeFileSync(outside, "kept");
      linkSync(outside, join(at.directory, "x"));
      await at.workspace.apply([await at.update("x", "kept", "changed")]);
      expect(readFileSync(outside, "utf8")).toBe("kept");
      expect(at.content("x")).toBe("changed");
    });

    test("of a hundred writers with the same base exactly one wins, every time", async () => {
      at.file("x", "0");
      for (let round = 0; round < 5; round += 1) {
        const before = at.content("x");
        const changes = await Promise.all(
          Array.from({ length: 100 }, (_, writer) => at.update("x", before, `${round}-${writer}`)),
        );
        const results = await Promise.allSettled(changes.map((change) => at.workspace.apply([change])));
        const winners = results.flatMap((result, writer) => (result.status === "fulfilled" ? [writer] : []));
        expect(winners).toHaveLength(1);
        expect(at.content("x")).toBe(`${round}-${winners[0]}`);
        for (const result of results) {
          if (result.status === "rejected") expect(result.reason).toMatchObject({ code: "stale_file" });
        }
      }
      expect(at.tree()).toEqual(["x"]);
    });

    test("of many creators of one file exactly one wins", async () => {
      const changes = await Promise.all(Array.from({ length: 20 }, (_, writer) => at.create("deep/er/x", `${writer}`)));
      const results = await Promise.allSettled(changes.map((change) => at.workspace.apply([change])));
      expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      expect(at.tree()).toEqual(["deep", "deep/er", "deep/er/x"]);
    });

    test("does nothing for no changes", async () => {
      expect(await at.workspace.apply([])).toEqual([]);
    });
  });
}

function sameStamp(path: string, text: string): void {
  const { atime, mtime } = statSync(path);
  writeFileSync(path, text);
  utimesSync(path, atime, mtime);
}
