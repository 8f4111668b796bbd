import { afterEach, expect, test, vi } from "vitest";
import { AskedSession } from "../asked-session.ts";
import { branches, gitWorld } from "./services/git-host.ts";

afterEach(() => vi.unstubAllEnvs());

test("Proposal Mode: a push sends what was committed, not what is staged, and changes nothing here; nothing is published", async () => {
  await using at = await gitWorld([
    "echo staged > staged.txt",
    "git push origin work",
    "npm publish",
    "git commit -qam x && git push origin work",
  ]);
  const { bare, server, workspace } = at;
  await using session = await AskedSession.start(server, { proposal: true });
  await session.turnWithYes();
  const pushed = await session.turnWithYes();
  expect(pushed.questions.map(({ computed }) => computed?.rule)).toEqual(["keys/use"]);
  expect(pushed.output).toContain("exit code 0");
  expect(pushed.output).toContain("what was sent is what had been committed, without what is staged");
  expect(branches(bare)).toBe(`refs/heads/work ${await workspace.git("rev-parse", "HEAD")}\n`);
  expect(await workspace.git("for-each-ref", "refs/remotes")).toBe("");
  expect(await workspace.git("status", "--porcelain")).toBe("");

  const published = await session.turnWithYes();
  expect(published.error).toContain("In Proposal Mode nothing is published");
  const chained = await session.turnWithYes();
  expect(chained.questions).toEqual([]);
  expect(chained.error).toContain("has to be a command of its own");
  expect(branches(bare)).toBe(`refs/heads/work ${await workspace.git("rev-parse", "HEAD")}\n`);
});
