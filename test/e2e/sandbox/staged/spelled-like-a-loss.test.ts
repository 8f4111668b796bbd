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
