import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { eventsOf, startSession } from "../../rpc/session-client.ts";
import { result, staging } from "./staging.ts";

const files = { "a.txt": "one\n", "src/render/r.ts": "1\n", "src/b.ts": "1\n" };

test("what is spelled like a loss runs unasked where nothing of the user's is lost", async () => {
  const command = "echo more >> a.txt; git stash && git stash drop; echo x > new.txt; git clean -fd; git reset --hard";
  await using server = await staging([command], files);
  const { output, error, events } = await result(server, await startSession(server));
  expect(`${error}${output}`).toContain("exit code 0");
  expect(eventsOf(events, "confirmationRequest")).toEqual([]);
  expect(await server.workspace.read("a.txt")).toBe("one\n");
  expect(existsSync(server.workspace.path("new.txt"))).toBe(false);
});

// What is lost is found out by what is there afterwards, however it went: found/thrown-away.test.ts has the ways,
// found-writes.test.ts and git-changes.test.ts what is said of them.
test("what is lost of the user's is not, without a person", async () => {
  await using server = await staging(["rm -rf a.txt notes.txt src"], files);
  const { workspace } = server;
  await workspace.write("src/b.ts", "2\n");
  await workspace.write("a.txt", "mine\n");
  await workspace.write("notes.txt", "mine\n");
  const { output, error } = await result(server, await startSession(server));
  expect(`${error}${output}`).toMatch(/throws away your changes in a\.txt, notes\.txt, src\/b\.ts/);
  expect(await workspace.read("a.txt")).toBe("mine\n");
  expect(await workspace.read("notes.txt")).toBe("mine\n");
  expect(await workspace.read("src/b.ts")).toBe("2\n");
});
