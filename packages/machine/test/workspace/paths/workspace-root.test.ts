import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openLocalWorkspace } from "#workspace/local-workspace";
import { WorkspaceError } from "#workspace/paths/workspace-error";
import { WorkspaceRegistry } from "#workspace/workspace-registry";

const top = realpathSync(mkdtempSync(join(tmpdir(), "gennai-root-")));
const home = join(top, "home/dev");
const stateDir = join(home, ".local/state/gennai");
beforeAll(() => {
  mkdirSync(join(home, "project/sub"), { recursive: true });
  writeFileSync(join(home, "file"), "");
  symlinkSync(home, join(top, "to-home"));
  symlinkSync(join(home, "project"), join(top, "to-project"));
});
afterAll(() => rmSync(top, { recursive: true, force: true }));

test.each([
  ["the file system", "/", "workspace_too_broad"],
  ["home", home, "workspace_too_broad"],
  ["home with a detour", `${home}/project/..`, "workspace_too_broad"],
  ["a link to home", join(top, "to-home"), "workspace_too_broad"],
  ["a parent of home", join(top, "home"), "workspace_too_broad"],
  ["a parent of the state, which need not exist", join(home, ".local"), "workspace_not_found"],
  ["/etc", "/etc", "workspace_too_broad"],
  ["/usr", "/usr", "workspace_too_broad"],
  ["/proc/self", "/proc/self", "workspace_too_broad"],
  ["a file", join(home, "file"), "workspace_not_a_directory"],
  ["nothing", join(home, "none"), "workspace_not_found"],
])("refuses %s", (_, directory, code) => {
  const open = () => openLocalWorkspace(directory, { stateDir, home });
  expect(open).toThrow(WorkspaceError);
  expect(open).toThrow(expect.objectContaining({ code }));
});

test("refuses what contains the state directory", () => {
  const directory = join(home, "project");
  expect(() => openLocalWorkspace(directory, { stateDir: join(directory, "sub/state"), home })).toThrow(
    expect.objectContaining({ code: "workspace_too_broad" }),
  );
});

test("a root that is a link is canonicalised once", async () => {
  const workspace = openLocalWorkspace(join(top, "to-project"), { stateDir, home });
  expect(workspace.root).toBe(join(home, "project"));
  expect(await workspace.resolve(join(top, "to-project/sub"))).toMatchObject({ inside: true, relative: "sub" });
});

test("a registry shares one workspace for a root, and opens a directory made anew as another", async () => {
  const registry = new WorkspaceRegistry(stateDir);
  const directory = join(top, "again");
  mkdirSync(directory);
  const first = await registry.open(directory);
  expect(await registry.open(`${directory}/.`)).toBe(first);
  mkdirSync(join(top, "new"));
  rmSync(directory, { recursive: true });
  symlinkSync(join(top, "new"), directory);
  expect((await registry.open(directory)).root).toBe(join(top, "new"));
  await expect(first.resolve("x")).rejects.toMatchObject({ code: "workspace_replaced" });
});
