import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { link, mkdir, readdir, rename, rm, stat, symlink, utimes } from "node:fs/promises";
import { setImmediate as turn } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type Checks, check } from "../../corpus-case.ts";
import { failureOf, localFiles } from "../../local-files.ts";
import { expectCode } from "../../tool-call.ts";
import { bufferIsNoBaseOfTheDisk, secondSessionLoses } from "../locking.ts";

const swapping = fileURLToPath(new URL("swapping-process.ts", import.meta.url));
const tries = 400;

export const pathToctouChecks: Checks = {
  "TOC-001": check(async () => {
    await using files = await localFiles({ "dir/keep": "" });
    const child = spawn(process.execPath, [swapping, files.inside.path("dir"), files.outside.root], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const ended = once(child, "exit");
    await once(child.stdout, "data");
    try {
      for (let index = 0; index < tries; index += 1) {
        await files
          .create(`dir/x${index}`, "x")
          .then((change) => files.workspace.apply([change]))
          .catch(() => undefined);
        await turn();
      }
    } finally {
      child.kill("SIGKILL");
      await ended;
    }
    assert.deepEqual(await readdir(files.outside.root), ["secret"]);
  }),
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
  "TOC-004": check(async () => {
    await using files = await localFiles();
    await files.outside.write("protected", "old");
    const change = await files.update("src/a", "old", "new");
    await rm(files.inside.path("src/a"));
    await link(files.outside.path("protected"), files.inside.path("src/a"));
    await failureOf(files.workspace.apply([change]));
    assert.equal(await files.outside.read("protected"), "old");
  }),
  "TOC-006": check(async () => {
    await using files = await localFiles();
    const change = await files.update("src/a", "old", "new");
    await files.inside.write("src/a", "mine");
    assert.equal(await failureOf(files.workspace.apply([change])), "stale_file");
    assert.equal(await files.inside.read("src/a"), "mine");
  }),
  "TOC-007": check(async () => {
    await using files = await localFiles();
    const { atime, mtime } = await stat(files.inside.path("src/a"));
    const change = await files.update("src/a", "old", "new");
    await files.inside.write("src/a", "odl");
    await utimes(files.inside.path("src/a"), atime, mtime);
    assert.equal(await failureOf(files.workspace.apply([change])), "stale_file");
    assert.equal(await files.inside.read("src/a"), "odl");
  }),
  "TOC-008": check(async () => {
    await using files = await localFiles();
    const change = await files.update("src/a", "old", "new");
    await rm(files.inside.path("src/a"));
    assert.equal(await failureOf(files.workspace.apply([change])), "stale_file");
    assert.equal(existsSync(files.inside.path("src/a")), false);
  }),
  "TOC-009": check(async () => {
    await using files = await localFiles();
    const change = await files.create("src/b", "agent's");
    await files.inside.write("src/b", "mine");
    assert.equal(await failureOf(files.workspace.apply([change])), "stale_file");
    assert.equal(await files.inside.read("src/b"), "mine");
  }),
  "TOC-011": check(bufferIsNoBaseOfTheDisk),
  "TOC-012": check(secondSessionLoses),
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
  "TOC-016": check(() =>
    expectCode(
      ["directory_changed", "changed_after_approval", "bad_directory"],
      "Bash",
      { command: "touch made", cwd: "sub" },
      {
        files: { "sub/keep": "" },
        whileAsked: async ({ workspace }) => {
          await rename(workspace.path("sub"), workspace.path("was"));
          await mkdir(workspace.path("sub"));
        },
        after: async ({ workspace }) =>
          assert.deepEqual(
            [existsSync(workspace.path("sub/made")), existsSync(workspace.path("was/made"))],
            [false, false],
          ),
      },
    ),
  ),
};
