import { bash } from "@gennai/testkit/scripted-steps";
import { startTestServer, type TestServer } from "@gennai/testkit/test-server";
import { describe, expect, test } from "vitest";
import { runTurn, startSession, Watcher } from "../../rpc/session-client.ts";

const running = (...commands: readonly string[]) => [
  { steps: [...commands.map((command) => bash(command)), { text: ["Done."] }] },
];

/** Says yes to every question of the turn until it ends, and tells what was asked. */
async function endWithEveryYes(server: TestServer, sessionId: string): Promise<readonly string[]> {
  await using person = await Watcher.attach(server, sessionId);
  const { turnId } = await server.client.startTurn({ sessionId, userInput: "go", clientTurnId: "turn" });
  const asked: string[] = [];
  const ended = person.end(turnId);
  for (;;) {
    const question = person.next("confirmationRequest", asked.length);
    // It is still waiting when the turn ends.
    question.catch(() => undefined);
    const next = await Promise.race([ended, question]);
    if (typeof next === "string") return asked;
    asked.push(next.actionStatement);
    await person.answer(next);
  }
}

describe("Branch Mode holds for commands", () => {
  test.each([
    ["writes a file", "touch made.txt"],
    ["commits", "git commit --quiet --allow-empty --message x"],
    ["leaves the branch and writes whether it left or not", "git switch --quiet work; touch made.txt"],
  ])(
    "on a protected branch a command that %s begins a branch by one yes, and is refused where nobody is",
    async (_what, command) => {
      await using server = await startTestServer({ script: running(command) });
      const { workspace } = server;
      await workspace.git("switch", "--quiet", "main");
      const before = await workspace.git("rev-parse", "HEAD");
      await runTurn(server, await startSession(server), "go");
      expect(await workspace.git("status", "--porcelain")).toBe("");
      expect(await workspace.git("rev-parse", "HEAD", "--abbrev-ref", "HEAD")).toBe(`${before}\nmain`);
      const asked = await endWithEveryYes(server, await startSession(server, { interactive: true }));
      expect(asked).toEqual([`Run \`${command}\``]);
      expect(await workspace.git("rev-parse", "main")).toBe(before);
      expect(await workspace.git("branch", "--show-current")).not.toBe("main");
    },
  );

  test("a yes that comes after HEAD moved to a protected branch runs nothing there", async () => {
    await using server = await startTestServer({ script: running("touch made.txt") });
    const { workspace } = server;
    await using person = await Watcher.begin(server);
    const question = await person.next("confirmationRequest");
    await workspace.git("switch", "--quiet", "main");
    await person.answer(question);
    await person.end();
    expect(await workspace.git("status", "--porcelain")).toBe("");
  });
});
