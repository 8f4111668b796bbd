import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { oneAfterTheOther, raceJobs } from "@gennai/testkit/race-jobs";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import type { WorkspaceChannel } from "#bridge/workspace-answer";
import { ControlMirror } from "#client-workspace/control-mirror";

/** Answers with a rule file that says how often it was asked before. */
function channelOf(work: () => Promise<void>, asked: { count: number }): WorkspaceChannel {
  const ask = async () => {
    await work();
    asked.count += 1;
    const files = [{ path: ".gennai/rules.json", bytes: Buffer.from(String(asked.count)), problem: "" }];
    return { type: "control", control: { digest: String(asked.count), files, git: undefined } };
  };
  return { ask } as unknown as WorkspaceChannel;
}

test("the client is asked by one after the other, also after it failed, and the last answer is what is there", async () => {
  await using directory = await temporaryDirectory();
  const mirror = new ControlMirror(join(directory.root, "mirror"), () => 0);
  const asked = { count: 0 };
  expect(await raceJobs((job) => mirror.sync(channelOf(job, asked), {}))).toEqual(oneAfterTheOther);
  expect(await readFile(join(mirror.directory, ".gennai/rules.json"), "utf8")).toBe("3");
});
