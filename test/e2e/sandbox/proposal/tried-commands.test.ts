import { checkCommand } from "@gennai/client/governance/rules";
import type { TestServer } from "@gennai/testkit/test-server";
import { startTestServer } from "@gennai/testkit/test-server";
import { expect, test } from "vitest";
import { eventsOf, runTurn, startSession } from "../../rpc/session-client.ts";
import { bash, proposing, turn } from "./proposing.ts";

async function tryIn(server: TestServer, sessionId: string, command: string) {
  const { governance } = server;
  const { outcome, rules } = await checkCommand(
    governance,
    { sessionId, command },
    { signal: AbortSignal.timeout(60_000) },
  );
  return { outcome, rules: rules.map(({ rule }) => rule) };
}

test("in Proposal Mode, a command is tried against all rules, before and after something is staged", async () => {
  await using server = await proposing([[bash("echo new > new.txt")]]);
  const session = await startSession(server, { proposal: true });
  const tried = async () => ({
    push: await tryIn(server, session, "git push --force origin main"),
    look: await tryIn(server, session, "ls"),
    write: await tryIn(server, session, "touch made"),
  });
  const expected = {
    push: { outcome: "deny", rules: expect.arrayContaining(["floor/git-loss"]) },
    look: { outcome: "staged", rules: [] },
    write: { outcome: "staged", rules: [] },
  };
  expect(await tried()).toEqual(expected);
  expect((await turn(server, session)).proposal().changes).toHaveLength(1);
  expect(await tried()).toEqual(expected);
});

test("where Proposal Mode runs no commands, a tried one is refused for that, and the first turn still says why", async () => {
  await using server = await startTestServer({ server: { commands: "ask" } });
  const session = await startSession(server, { proposal: true });
  expect(await tryIn(server, session, "ls")).toEqual({ outcome: "deny", rules: ["gate/registry"] });
  const warnings = eventsOf(await runTurn(server, session, "list"), "warning");
  expect(warnings.join("\n")).toContain("Proposal Mode only proposes here");
});
