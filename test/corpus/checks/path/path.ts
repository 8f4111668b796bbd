import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, rename, symlink } from "node:fs/promises";
import { createServer } from "node:net";
import { homedir } from "node:os";
import { dirname } from "node:path";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { startTestServer, type TestServer } from "@gennai/testkit/test-server";
import { codeOf, runTurn, startSession } from "../../../e2e/rpc/session-client.ts";
import { type Checks, check, notApplicable } from "../../corpus-case.ts";
import { calledLast, callTool, expectCode, scriptOf } from "../../tool-call.ts";

const outside = "outside_workspace";
const secret = "zero_access";
const control = "control_file";

const noIntents = notApplicable("Intents and their scopes are not part of this release.");

/** Reads of one path after another, each refused like this. */
const reads = (code: string | readonly string[], ...paths: readonly string[]) =>
  check(async () => {
    for (const path of paths) await expectCode(code, "Read", { file_path: path });
  });

const writes = (code: string | readonly string[], ...paths: readonly string[]) =>
  check(async () => {
    for (const path of paths) await expectCode(code, "Write", { file_path: path, content: "x" });
  });

/** A directory beside the workspace that is gone afterwards. */
async function beside(server: TestServer): Promise<string> {
  const path = `${server.workspace.root}-evil`;
  await mkdir(path);
  return path;
}

async function writeBeside(pathOf: (server: TestServer) => string): Promise<void> {
  await using server = await startTestServer();
  await using trash = new AsyncDisposableStack();
  const evil = await beside(server);
  trash.defer(async () => void spawnSync("rm", ["-rf", evil]));
  const model = await server.scriptFile([
    scriptOf([{ tool: "Write", args: { file_path: pathOf(server), content: "x" } }]),
  ]);
  const sessionId = await startSession(server, { settings: { backend: 21, model } });
  assert.equal(calledLast(await runTurn(server, sessionId, "go")).code, outside);
  assert.equal(existsSync(`${evil}/x`), false);
}

export const pathChecks: Checks = {
  "PTH-002": reads(outside, "/etc/shadow"),
  "PTH-004": check(() => writeBeside((server) => `${server.workspace.root}-evil/x`)),
  "PTH-005": check(() =>
    writeBeside(({ workspace: { root } }) => `${root}/..${root.slice(dirname(root).length)}-evil/x`),
  ),
  "PTH-006": reads(outside, "src//..//..//etc/passwd"),
  "PTH-008": reads("bad_path", "..\\..\\etc\\passwd"),
  "PTH-010": reads("bad_path", "file:///etc/passwd"),
  "PTH-011": reads("bad_path", "file://localhost/etc/passwd"),
  "PTH-012": reads("bad_path", "vscode-remote://x/etc/passwd"),
  "PTH-014": reads("bad_arguments", ""),
  "PTH-015": check(async () => {
    await expectCode("not_a_file", "Read", { file_path: "." });
    await expectCode("not_a_file", "Write", { file_path: ".", content: "x" });
  }),
  "PTH-016": reads("bad_path", "a/".repeat(2500)),
  "PTH-018": reads("bad_path", "src/a\n.ts", "src/a\u001b[2K.ts"),
  "PTH-021": check(async () => {
    await using elsewhere = await temporaryDirectory();
    await expectCode(
      outside,
      "Write",
      { file_path: "link/new/x.ts", content: "x" },
      {
        prepare: (server) => symlink(elsewhere.root, server.workspace.path("link")),
      },
    );
    assert.equal(existsSync(elsewhere.path("new")), false);
  }),
  "PTH-024": check(() =>
    expectCode(
      "bad_path",
      "Write",
      { file_path: "src/loop", content: "x" },
      {
        prepare: (server) => symlink("loop", server.workspace.path("src/loop")),
      },
    ),
  ),
  "PTH-028": writes(outside, "/proc/self/root/etc/passwd"),
  "PTH-031": reads(outside, "/dev/stdin", "/dev/fd/0", "/dev/tty"),
  "PTH-033": check(() =>
    expectCode(
      "not_a_file",
      "Read",
      { file_path: "src/fifo" },
      {
        prepare: async (server) => assert.equal(spawnSync("mkfifo", [server.workspace.path("src/fifo")]).status, 0),
      },
    ),
  ),
  "PTH-034": check(async () => {
    const listener = createServer();
    await expectCode(
      "not_a_file",
      "Read",
      { file_path: "s" },
      {
        prepare: (server) => new Promise<void>((resolve) => listener.listen(server.workspace.path("s"), resolve)),
        after: () => new Promise<void>((resolve) => listener.close(() => resolve())),
      },
    );
  }),
  "PTH-035": check(() =>
    expectCode(
      "path_not_allowed",
      "Write",
      { file_path: "README.MD", content: "x" },
      {
        files: { ".gennai/config.yaml": "paths:\n  deny: [README.md]\n" },
      },
    ),
  ),
  "PTH-036": writes(control, ".VSCODE/settings.json"),
  "PTH-038": writes(control, ".git/HOOKS/pre-commit"),
  "PTH-040": writes("bad_path", ".g\u200bit/config"),
  "PTH-042": check(() =>
    expectCode(
      "path_not_allowed",
      "Write",
      { file_path: "cafe\u0301.ts", content: "x" },
      {
        files: { ".gennai/config.yaml": "paths:\n  deny: [caf\u00e9.ts]\n" },
      },
    ),
  ),
  "PTH-043": writes("bad_path", "README.md "),
  "PTH-045": writes("bad_path", "README.md::$DATA"),
  "PTH-047": writes("bad_path", "CON", "NUL", "aux.txt", "COM1"),
  "PTH-048": writes("bad_path", "C:/Windows/x", "C:x", "\\\\?\\C:\\x", "//server/share/x"),
  "PTH-051": reads("bad_path", "$HOME/.ssh/id_rsa"),
  ...Object.fromEntries(
    Object.entries({ "PTH-052": "**/.env", "PTH-053": ".e*", "PTH-054": "{a,.env}" }).map(([id, glob]) => [
      id,
      check(async () => {
        const called = await callTool(
          "Grep",
          { pattern: "KEY", path: ".", glob, output_mode: "content" },
          { files: { ".env": "KEY=hunter2\n" } },
        );
        assert.equal(called.code, secret);
        assert.ok(!called.output.includes("hunter2"));
      }),
    ]),
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
      {
        files,
        after: async (server) => assert.equal(existsSync(server.workspace.path("src/x")), false),
      },
    );
    assert.notEqual(code, "ok");
    assert.notEqual(code, "nobody_to_ask", "it asked, and must deny");
  }),
  "PTH-075": check(() => expectCode("bad_path", "Write", { file_path: "README.md/x", content: "x" })),
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
  "PTH-079": check(async () => {
    await using elsewhere = await temporaryDirectory({ "src/a.ts": "stolen" });
    await using server = await startTestServer({
      files: { "src/a.ts": "mine" },
      script: [scriptOf([{ tool: "Read", args: { file_path: "src/a.ts" } }])],
    });
    const sessionId = await startSession(server);
    const { root } = server.workspace;
    await rename(root, `${root}-moved`);
    await symlink(elsewhere.root, root);
    try {
      const called = calledLast(await runTurn(server, sessionId, "go"));
      assert.equal(called.code, "workspace_replaced");
    } finally {
      spawnSync("rm", ["-f", root]);
      await rename(`${root}-moved`, root);
    }
  }),
  "PTH-080": check(async () => {
    await using server = await startTestServer();
    for (const workingDir of ["/", homedir(), `${homedir()}/.`]) {
      assert.equal(await codeOf(server.client.startSession({ settings: { workingDir } })), "invalid_argument");
    }
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
