import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { rename, symlink } from "node:fs/promises";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { type Checks, check, notApplicable } from "../../corpus-case.ts";
import { callTool, expectCode } from "../../tool-call.ts";

const outside = "outside_workspace";
const secret = "zero_access";
const control = "control_file";

const noIntents = notApplicable("Intents and their scopes are not part of this release.");

const writes = (code: string | readonly string[], ...paths: readonly string[]) =>
  check(async () => {
    for (const path of paths) await expectCode(code, "Write", { file_path: path, content: "x" });
  });

export const pathChecks: Checks = {
  "PTH-035": check(() =>
    expectCode(
      "path_not_allowed",
      "Write",
      { file_path: "README.MD", content: "x" },
      { files: { ".gennai/config.yaml": "paths:\n  deny: [README.md]\n" } },
    ),
  ),
  "PTH-036": writes(control, ".VSCODE/settings.json"),
  "PTH-038": writes(control, ".git/HOOKS/pre-commit"),
  "PTH-042": check(() =>
    expectCode(
      "path_not_allowed",
      "Write",
      { file_path: "cafe\u0301.ts", content: "x" },
      { files: { ".gennai/config.yaml": "paths:\n  deny: [caf\u00e9.ts]\n" } },
    ),
  ),
  "PTH-057": check(async () => {
    await expectCode("ok", "LS", {});
    await expectCode("ok", "Glob", { pattern: "**/*.ts" });
    await expectCode("ok", "Bash", { command: "ls" });
  }),
  "PTH-058": check(async () => {
    const { code, output } = await callTool("LS", { path: "." }, { files: { ".env": "KEY=hunter2\n" } });
    assert.deepEqual([code, output.includes(".env"), output.includes("hunter2")], ["ok", true, false]);
  }),
  "PTH-060": check(async () => {
    await using folder = await temporaryDirectory({ "b.ts": "b" });
    await expectCode(outside, "Read", { file_path: folder.path("b.ts") });
  }),
  "PTH-063": noIntents,
  "PTH-066": noIntents,
  "PTH-067": noIntents,
  "PTH-070": noIntents,
  "PTH-074": check(async () => {
    const files = { ".env": "KEY=hunter2\n" };
    await expectCode(secret, "Move", { from: ".env", to: "src/x" }, { files });
    const { code } = await callTool(
      "Bash",
      { command: "cp .env src/x" },
      { files, after: async (server) => assert.equal(existsSync(server.workspace.path("src/x")), false) },
    );
    assert.notEqual(code, "ok");
    assert.notEqual(code, "nobody_to_ask", "it asked, and must deny");
  }),
  "PTH-077": writes(control, ".git/worktrees/x", ".git/commondir", "src/.git"),
  "PTH-078": check(async () => {
    await using elsewhere = await temporaryDirectory();
    await expectCode(
      "ok",
      "Read",
      { file_path: "src/a.ts" },
      {
        prepare: (server) => symlink(server.workspace.root, elsewhere.path("link")),
        workingDir: () => elsewhere.path("link"),
      },
    );
  }),
  "PTH-082": check(async () => {
    await using elsewhere = await temporaryDirectory();
    await expectCode(
      ["directory_changed", "changed_after_approval", outside],
      "Bash",
      { command: "touch made", cwd: "sub" },
      {
        files: { "sub/keep": "" },
        whileAsked: async ({ workspace }) => {
          await rename(workspace.path("sub"), workspace.path("was"));
          await symlink(elsewhere.root, workspace.path("sub"));
        },
        after: async ({ workspace }) =>
          assert.deepEqual(
            [existsSync(elsewhere.path("made")), existsSync(workspace.path("was/made"))],
            [false, false],
          ),
      },
    );
  }),
};
