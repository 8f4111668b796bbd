import { mkdir, symlink } from "node:fs/promises";
import { isWithin } from "@gennai/protocol/is-within";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import fc from "fast-check";
import { expect, test } from "vitest";
import { nameInWorkspace, resolveInWorkspace } from "../../src/editor/workspace-paths.ts";

async function scene() {
  const directory = await temporaryDirectory({ "ws/src/a.ts": "a", "other/b.ts": "b" });
  await symlink("src", directory.path("ws/inner"));
  await symlink("../other", directory.path("ws/outer"));
  await symlink("../other/new.ts", directory.path("ws/dangling"));
  await symlink("loop", directory.path("ws/loop"));
  return directory;
}

test.each([
  ["src/a.ts", "ws/src/a.ts"],
  ["./src//a.ts", "ws/src/a.ts"],
  ["inner/a.ts", "ws/src/a.ts"],
  ["src/new/deep.ts", "ws/src/new/deep.ts"],
  [".", "ws"],
  ["..a", "ws/..a"],
])("%s is %s", async (name, wanted) => {
  await using directory = await scene();
  const path = await resolveInWorkspace(directory.path("ws"), name);
  expect(path).toEqual({ name, absolute: directory.path(wanted), root: directory.path("ws") });
});

test.each([
  ...["..", "../other/b.ts", "src/../../other/b.ts", "outer/b.ts", "outer/new.ts", "/etc/hosts", "\\etc", "..\\x"],
  ...["C:\\x", "c:x", "~/x", "file:///etc/hosts", "", "a\0b", "a\nb"],
  "x".repeat(5000),
])("%j is refused", async (name) => {
  await using directory = await scene();
  await expect(resolveInWorkspace(directory.path("ws"), name)).rejects.toMatchObject({
    code: expect.stringMatching(/^(bad_path|outside_workspace)$/),
  });
});

test.each(["loop", "loop/x"])("%s leads nowhere", async (name) => {
  await using directory = await scene();
  await expect(resolveInWorkspace(directory.path("ws"), name)).rejects.toThrow();
});

test("a link to what is not there is refused", async () => {
  await using directory = await scene();
  await expect(resolveInWorkspace(directory.path("ws"), "dangling")).rejects.toThrow();
});

test("no name leads out", async () => {
  await using directory = await scene();
  await mkdir(directory.path("ws/..a"));
  const part = fc.constantFrom("..", ".", "", "src", "outer", "inner", "dangling", "..a", "a.ts", "/", "\\", "~", "C:");
  const name = fc.oneof(
    fc.array(part, { maxLength: 6 }).map((parts) => parts.join("/")),
    fc.string(),
  );
  await fc.assert(
    fc.asyncProperty(name, async (given) => {
      const found = await resolveInWorkspace(directory.path("ws"), given).catch(() => undefined);
      if (found !== undefined) expect(isWithin(found.absolute, { directory: directory.path("ws") })).toBe(true);
    }),
    { numRuns: 300 },
  );
});

test("names are relative, with forward slashes", () => {
  expect(nameInWorkspace("/w", "/w/a/b")).toBe("a/b");
  expect(nameInWorkspace("/w", "/w")).toBe(".");
  expect(nameInWorkspace("/w", "/wx/a")).toBeUndefined();
});
