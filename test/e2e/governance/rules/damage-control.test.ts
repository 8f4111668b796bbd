import { mkdir, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { ConfirmationAnswer, Verdict } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { bash } from "@gennai/testkit/scripted-steps";
import { startTestServer, type TestServer } from "@gennai/testkit/test-server";
import { describe, expect, test } from "vitest";
import { allEvents, eventsOf, lastSeqOf, runTurn, startSession, Watcher } from "../../rpc/session-client.ts";

/** A checker of calls in a workspace with these rules; `%ROOT%` is replaced with the workspace. */
async function checker(server: TestServer, rules?: string) {
  if (rules !== undefined) {
    await mkdir(server.workspace.path(".gennai"));
    await writeFile(server.workspace.path(".gennai/rules.yaml"), rules.replaceAll("%ROOT%", server.workspace.root));
  }
  const sessionId = await startSession(server);
  const { governance } = server;
  return async (tool: string, args: object): Promise<string> => {
    const check = await governance.checkPolicy({ sessionId, tool, argumentsJson: JSON.stringify(args) });
    return check.verdict === Verdict.ALLOW
      ? "allow"
      : (check.rules.find(({ rule }) => rule.startsWith("rules/"))?.rule ?? "other");
  };
}

describe("paths", () => {
  test("seed 004 §3B default: without a path, grep, find and ls mean the directory they run in", async () => {
    await using server = await startTestServer({ files: { "vault/a.txt": "x\n" } });
    const everywhere = await checker(server, "zeroAccessPaths: ['%ROOT%/']\n");
    const rule = "rules/project/zeroAccessPaths/1";
    for (const [tool, args] of [
      ["Grep", { pattern: "x" }],
      ["Glob", { pattern: "*.md" }],
      ["LS", {}],
      ["Bash", { command: "cd vault && grep x" }],
      ["Bash", { command: "cd vault && find" }],
      ["Bash", { command: "cd vault; ls" }],
      ["Bash", { command: "ls", cwd: "vault" }],
      ["Bash", { command: "find" }],
    ] as const) {
      expect([tool, args, await everywhere(tool, args)]).toEqual([tool, args, rule]);
    }
  });

  test("seed 004 §2 resolver: paths of commands and of rules, with dots, from where a command runs, and with a tilde", async () => {
    const home = homedir();
    await using server = await startTestServer({ files: { "src/a.ts": "", "vault.txt": "x\n" } });
    const check = await checker(server, `zeroAccessPaths: [vault.txt, "${home}/one-of-tests/", "~/two-of-tests/"]\n`);
    const root = server.workspace.root;
    const dots = ["cd src && cat ../vault.txt", "cat ./src/../vault.txt", `cat ${root}/vault.txt`];
    for (const command of [...dots, "cat ~/one-of-tests/x", `cat ${home}/two-of-tests/x`]) {
      expect([command, await check("Bash", { command })]).toEqual([command, expect.stringMatching(/zeroAccessPaths/)]);
    }
  });
});

const script = [{ steps: [bash("cat README.md"), { text: ["Over."] }] }];
const askFirst = {
  ".gennai/rules.yaml": "bashToolPatterns: [{pattern: 'cat README', reason: look twice, ask: true}]\n",
};

describe("seed 004 §4 ask: a rule that asks", () => {
  test.each([
    ["a yes runs it", ConfirmationAnswer.YES, "", "confirmed"],
    ["a no denies it", ConfirmationAnswer.NO, "User denied execution", "refused"],
    ["no answer in time denies it", undefined, "Nobody answered", "asked"],
  ] as const)("%s", async (_name, answer, error, action) => {
    const confirmation = { answerMs: answer === undefined ? 150 : 5_000, waitForClientMs: 5_000 };
    await using server = await startTestServer({ files: askFirst, script, server: { confirmation } });
    await using editor = await Watcher.begin(server);
    const question = await editor.next("confirmationRequest");
    expect(question.computed).toMatchObject({ rule: "rules/project/1", reason: "look twice" });
    if (answer !== undefined) await editor.answer(question, { answer });
    expect((await editor.next("toolResult")).error).toContain(error);
    await editor.end();
    expect(eventsOf(editor.events, "ruleViolation").at(-1)).toMatchObject({ rule: "rules/project/1", action });
  });
});

test("seed 004 §4 ask: it gives 30 seconds, also where other questions wait longer", async () => {
  await using server = await startTestServer({ files: askFirst, script });
  await using editor = await Watcher.begin(server);
  const { deadline } = await editor.next("confirmationRequest");
  const seconds = Number(deadline?.seconds) - Date.now() / 1000;
  expect(seconds).toBeGreaterThan(0);
  expect(seconds).toBeLessThanOrEqual(31);
});

test("seed 004 §5: an interception is logged with tool, input, rule and action, and becomes the status", async () => {
  const rules = { ".gennai/rules.yaml": "bashToolPatterns: [{pattern: 'cat README', reason: not this}]\n" };
  await using server = await startTestServer({ files: rules, script });
  const [sessionId, other] = [await startSession(server), await startSession(server)];
  const untouched = await lastSeqOf(server, other);
  const events = await runTurn(server, sessionId, "go");
  expect(eventsOf(events, "ruleViolation")).toMatchObject([
    {
      tool: "Bash",
      input: '{"command":"cat README.md"}',
      rule: "rules/project/1",
      action: "blocked",
      words: "cat README.md",
      reason: "Security Policy Violation: not this",
      place: ".gennai/rules.yaml:1",
    },
  ]);
  expect(eventsOf(events, "toolResult")[0]?.error).toBe("Security Policy Violation: not this");
  const { governance } = server;
  expect((await governance.getGovernanceStatus({})).rules?.text).toBe("⚠️ Last Violation: cat README.md");
  // The rules are what they were, and another session has nothing to do with it.
  expect(eventsOf(await allEvents(server, sessionId), "rulesChanged")).toEqual([]);
  expect(await lastSeqOf(server, other)).toBe(untouched);
});
