import { runCommandLine } from "@gennai/cli/command-line";
import { bash } from "@gennai/testkit/scripted-steps";
import { startTestServer } from "@gennai/testkit/test-server";
import { expect, test } from "vitest";
import { testConsole } from "../../../../packages/cli/test/test-console.ts";
import { runTurn, startSession } from "../../rpc/session-client.ts";

test("seed 004 §5: gennai policy log prints the damage-control-log of a workspace or a session", async () => {
  await using server = await startTestServer({
    steps: [bash("git reset --hard"), bash("ls"), bash("cat ~/.ssh/id_rsa"), { text: ["Over."] }],
  });
  const sessionId = await startSession(server);
  const other = await startSession(server);
  await runTurn(server, sessionId, "go");
  const gennai = async (...args: readonly string[]) => {
    const console = testConsole(server.workspace.root, { GENNAI_STATE_DIR: server.stateDir, HOME: server.stateDir });
    console.input.end("");
    return { code: await runCommandLine(["policy", "log", ...args], console), printed: console.printed() };
  };
  const { code, printed } = await gennai("--json");
  const entries = printed
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);
  expect([code, entries]).toMatchObject([
    0,
    [
      { type: "damage-control-log", tool: "Bash", rule: "floor/git-loss", action: "blocked", session_id: sessionId },
      { input: expect.stringContaining("id_rsa"), rule: "floor/credentials", action: "blocked" },
    ],
  ]);
  expect((await gennai("--session", sessionId)).printed).toMatch(
    /blocked +floor\/git-loss {2}Bash {2}git reset --hard/,
  );
  expect((await gennai("--session", other)).printed).toContain("No rule stopped");
  expect((await gennai("--session", "nobody")).code).toBe(2);
});
