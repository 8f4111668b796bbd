import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { type Checks, check, notApplicable } from "../../corpus-case.ts";
import { callTool, expectCode } from "../../tool-call.ts";

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
};
