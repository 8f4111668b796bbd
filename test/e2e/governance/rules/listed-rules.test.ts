import { checkCommand, listRules } from "@gennai/client/governance/rules";
import { bash } from "@gennai/testkit/scripted-steps";
import { startTestServer } from "@gennai/testkit/test-server";
import { expect, test } from "vitest";
import { startSession, Watcher } from "../../rpc/session-client.ts";

const files = {
  ".gennai/rules.yaml": [
    "bashToolPatterns:",
    "  - pattern: 'cat README'",
    "    reason: look twice",
    "    ask: true",
    "  - pattern: 'deploy'",
    "    reason: not from here",
    "zeroAccessPaths: [vault.txt]",
    "",
  ].join("\n"),
};
const script = [{ steps: [bash("cat README.md"), bash("./deploy"), { text: ["Over."] }] }];

test("rules are listed with their lines and what they did, and commands are tried without being run", async () => {
  await using server = await startTestServer({ files, script });
  const { signal } = new AbortController();
  const sessionId = await startSession(server, { interactive: true });
  const { governance } = server;

  const before = await listRules(governance, sessionId, { signal });
  const own = before.rules.filter(({ place }) => place !== "");
  expect(own.map(({ kind, text, verdict, place }) => ({ kind, text, verdict, place }))).toEqual([
    { kind: "command", text: "cat README", verdict: "ask", place: ".gennai/rules.yaml:2" },
    { kind: "command", text: "deploy", verdict: "deny", place: ".gennai/rules.yaml:5" },
    { kind: "zero", text: "vault.txt", verdict: "deny", place: ".gennai/rules.yaml:7" },
  ]);
  expect(before.rules.every(({ last }) => last === undefined)).toBe(true);
  const { rules } = await governance.getGovernanceStatus({ sessionId });
  expect(before.rules).toHaveLength(rules?.count ?? 0);

  await using editor = await Watcher.attach(server, sessionId);
  await server.client.startTurn({ sessionId, userInput: "go", clientTurnId: "go" });
  await editor.answer(await editor.next("confirmationRequest"));
  await editor.end();

  const after = await listRules(governance, sessionId, { signal });
  const spoke = after.rules.filter(({ last }) => last !== undefined);
  expect(spoke).toMatchObject([
    { text: "cat README", allowed: 1, refused: 0 },
    { text: "deploy", allowed: 0, refused: 1 },
  ]);
  expect(after.callsLookedAt).toBe(2);

  const tried = async (command: string) => (await checkCommand(governance, { sessionId, command }, { signal })).outcome;
  expect([
    await tried("ls"),
    await tried("cat README.md"),
    await tried("deploy --now"),
    await tried("touch made"),
  ]).toEqual(["allow", "ask", "deny", "ask"]);
  expect(await listRules(governance, sessionId, { signal })).toEqual(after);
});
