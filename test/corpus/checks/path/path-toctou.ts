import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readdir, rm, symlink } from "node:fs/promises";
import { type Checks, check } from "../../corpus-case.ts";
import { failureOf, localFiles } from "../../local-files.ts";
import { expectCode } from "../../tool-call.ts";

export const pathToctouChecks: Checks = {
  "TOC-002": check(async () => {
    await using files = await localFiles();
    const change = await files.update("src/a", "old", "new");
    await rm(files.inside.path("src/a"));
    await symlink(files.outside.path("secret"), files.inside.path("src/a"));
    assert.notEqual(await failureOf(files.workspace.apply([change])), "ok");
    assert.equal(await files.outside.read("secret"), "secret");
    assert.deepEqual(await readdir(files.inside.path("src")), ["a"]);
  }),
  "TOC-003": check(async () => {
    for (const replace of [(path: string) => mkdir(path), async (path: string) => void spawnSync("mkfifo", [path])]) {
      await using files = await localFiles();
      const change = await files.update("src/a", "old", "new");
      await rm(files.inside.path("src/a"));
      await replace(files.inside.path("src/a"));
      assert.notEqual(await failureOf(files.workspace.apply([change])), "ok");
      assert.equal(await failureOf(files.workspace.read(change.path, { maxBytes: 100 })), "not_a_file");
    }
  }),
  "TOC-013": check(() =>
    expectCode(
      ["changed_after_approval", "stale_file"],
      "Bash",
      { command: "sh run.sh" },
      {
        files: { "run.sh": "echo harmless\n" },
        whileAsked: (server) => server.workspace.write("run.sh", "touch made\n"),
        after: async (server) =>
          assert.equal(existsSync(server.workspace.path("made")), false, "the rewritten script ran"),
      },
    ),
  ),
};
