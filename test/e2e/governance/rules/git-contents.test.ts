import { bash } from "@gennai/testkit/scripted-steps";
import { startTestServer } from "@gennai/testkit/test-server";
import { expect, test } from "vitest";
import { eventsOf, runTurn, startSession } from "../../rpc/session-client.ts";

test("what Read refuses, git does not print either; with the file left out it does", async () => {
  const commands = [
    "git log -p",
    "git show HEAD",
    "git grep PASS HEAD",
    "git log --oneline",
    "git diff HEAD -- . ':(exclude,top).env'",
    "git show HEAD:src/main.ts",
  ];
  await using server = await startTestServer({
    files: { ".env": "PASS=hunter2-in-the-history\n", "src/main.ts": "export const one = 1;\n" },
    steps: [...commands.map(bash), { text: ["Done."] }],
  });
  await server.workspace.write(".env", "PASS=hunter2-in-the-tree\n");
  await server.workspace.write("src/main.ts", "export const one = 2;\n");
  const sessionId = await startSession(server);
  const events = await runTurn(server, sessionId, "go");
  const outputs = eventsOf(events, "toolResult").map(({ output }) => output);
  expect(outputs).toHaveLength(commands.length);
  for (const refused of outputs.slice(0, 3)) {
    expect(JSON.parse(refused)).toMatchObject({ error: { code: "zero_access", rule: "secrets/git-contents" } });
    expect(refused).toContain(":(exclude,top).env");
  }
  expect(outputs[3]).toContain("first");
  expect(outputs[4]).toContain("+export const one = 2;");
  expect(outputs[5]).toContain("export const one = 1;");
  expect(
    JSON.stringify(events, (_key, value: unknown) => (typeof value === "bigint" ? String(value) : value)),
  ).not.toContain("hunter2");
});
