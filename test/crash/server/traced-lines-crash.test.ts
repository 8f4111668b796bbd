import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { WorkspaceProvenance } from "@gennai/provenance/workspace-provenance";
import { expect, test } from "vitest";
import { crashOptions, randomNumbers } from "../crash-options.ts";
import { CrashWorld, never, SessionFollower } from "./crash-world.ts";

const options = crashOptions(2);
const random = randomNumbers(options.seed);
const path = "asked.txt";
const calls = 60;
const lineOf = (round: number, call: number): string =>
  `In round ${round}, call ${call} of the turn wrote this line, and no other call did.`;
/** What the file holds once a call is done. */
const contentAfter = (round: number, call: number): string =>
  Array.from({ length: call + 1 }, (_, at) => `${lineOf(round, at)}\n`).join("");

const turns = Array.from({ length: options.rounds }, (_, round) => ({
  match: `^round ${round}$`,
  steps: [
    { tool: { name: "Read", args: { path } } },
    ...Array.from({ length: calls }, (_none, call) => ({
      tool: { name: "Write", args: { path, content: contentAfter(round, call) } },
    })),
    { text: ["Written."] },
  ],
}));

test("a line that a killed server was writing is of its own call, or unknown, and of no person", async () => {
  await using world = await CrashWorld.open(turns, { [path]: "It stood there before anybody came.\n" });
  await using follower = await SessionFollower.start(world, "branch", {});
  let named = 0;
  for (let round = 0; round < options.rounds; round += 1) {
    const { turnId } = await follower.session.startTurn({ text: `round ${round}` }, never);
    // Of the last line before the kill it may be unknown which call wrote it; not of those before it.
    await expect.poll(() => world.workspace.read(path)).toContain(lineOf(round, 3));
    await delay(random() * 300);
    await world.crash();
    await follower.end(turnId);
    await world.expectSoundLedger();
    const text = await world.workspace.read(path);
    const provenance = await WorkspaceProvenance.open({
      workspaceRoot: world.workspace.root,
      stateDir: world.stateDir,
    });
    const origins = await provenance.originsOf(path, text);
    for (const [at, line] of text.split("\n").slice(0, -1).entries()) {
      const origin = origins[at];
      expect(line).toBe(lineOf(round, at));
      if (origin?.type !== "recorded") continue;
      named += 1;
      const { write } = origin;
      expect(write.decision.type, line).not.toBe("person");
      expect(write.call?.tool ?? "Write", line).toBe("Write");
      expect(write.afterSha256, line).toBe(sha256(contentAfter(round, at)));
    }
  }
  // Or it tested nothing.
  expect(named).toBeGreaterThan(options.rounds);
});

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
