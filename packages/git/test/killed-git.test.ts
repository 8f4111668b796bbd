import { setTimeout as delay } from "node:timers/promises";
import { processesSaying } from "@gennai/testkit/processes";
import { temporaryRepository } from "@gennai/testkit/temporary-repository";
import { expect, it } from "vitest";
import { openGit } from "#run/run-git";

it("ends when it is killed, at whatever instant, and leaves no process behind", async () => {
  await using repository = await temporaryRepository({ "a.txt": "a\n" });
  const place = { directory: repository.root };
  for (let round = 0; round < 60; round++) {
    const git = await openGit(["cat-file", "--batch"], place);
    // A sandbox is made in some milliseconds: it is killed before, meanwhile and after.
    await delay(round % 12);
    git.kill();
    expect(await git.ended).toMatchObject({ code: undefined });
  }
  if (process.platform === "linux") await expect.poll(() => processesSaying(repository.root)).toEqual([]);
});
