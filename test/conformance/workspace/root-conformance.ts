import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

import { type OpenWorkspace, sha256, useWorkspace } from "./use-workspace.ts";

/** A root that becomes another directory. */
export function describeRoot(open: OpenWorkspace): void {
  const at = useWorkspace(open);
  const signal = new AbortController().signal;

  describe(`the root`, () => {
    test("another directory or a link at its path is noticed", async () => {
      at.file("x", "x");
      const path = await at.workspace.resolve("x");
      const change = await at.update("x", "x", "y");
      renameSync(at.directory, `${at.directory}-moved`);
      for (const replace of [
        () => undefined,
        () => symlinkSync(at.outside, at.directory),
        () => {
          rmSync(at.directory);
          mkdirSync(at.directory);
        },
      ]) {
        replace();
        const refused = { code: "workspace_replaced", failureClass: "permission_denied" };
        await expect(at.workspace.resolve("x")).rejects.toMatchObject(refused);
        await expect(at.workspace.read(path, { maxBytes: 9 })).rejects.toMatchObject(refused);
        await expect(at.workspace.apply([change])).rejects.toMatchObject(refused);
        await expect(at.workspace.list({ ...path, relative: "" }, { ignore: [], limit: 1 })).rejects.toMatchObject(
          refused,
        );
        await expect(at.workspace.glob("*", { ...path, relative: "" }, { limit: 1, signal })).rejects.toMatchObject(
          refused,
        );
      }
      expect(existsSync(join(at.directory, "x"))).toBe(false);
      rmSync(at.directory, { recursive: true });
      renameSync(`${at.directory}-moved`, at.directory);
      expect(await at.workspace.read(path, { maxBytes: 9 })).toMatchObject({ sha256: sha256("x") });
    });
  });
}
