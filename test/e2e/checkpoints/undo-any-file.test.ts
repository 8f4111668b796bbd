import { existsSync, statSync, truncateSync } from "node:fs";
import { SkipReason } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { forgetWaysBack } from "@gennai/stage/commit/way-back";
import { expect, test } from "vitest";
import { refusalOf } from "../rpc/session-client.ts";
import { bash, world } from "./checkpoint-world.ts";

const staged = { commands: "staged" } as const;
const mebibyte = 1024 * 1024;

const changes = "rm data.db && mv moved.db there.db && head -c 70M /dev/zero >made && echo agent >a.ts";

test("what is no longer kept is named, stays where it was moved to, and all else goes back", async () => {
  await using place = await world({ go: [bash(changes)] }, { "a.ts": "a\n", "data.db": "", "moved.db": "" }, staged);
  const { server, sessionId, run } = place;
  const { workspace } = server;
  truncateSync(workspace.path("data.db"), 17 * mebibyte);
  truncateSync(workspace.path("moved.db"), 18 * mebibyte);
  expect(await run("go")).toBe("COMPLETED");
  await forgetWaysBack(server.stateDir, () => true);
  const undone = await server.client.undoChangeSet({ sessionId });
  expect(undone.files.map(({ path }) => path).toSorted()).toEqual(["a.ts", "made"]);
  expect(undone.skipped.every(({ reason }) => reason === SkipReason.NOT_KEPT)).toBe(true);
  expect(undone.skipped.map(({ path }) => path).toSorted()).toEqual(["data.db", "moved.db", "there.db"]);
  expect(statSync(workspace.path("there.db")).size).toBe(18 * mebibyte);
});

test("with nothing that can go back, undo says so and does nothing", async () => {
  await using place = await world({ go: [bash("echo small >data.db")] }, { "data.db": "" }, staged);
  const { server, sessionId, run } = place;
  truncateSync(server.workspace.path("data.db"), 17 * mebibyte);
  expect(await run("go")).toBe("COMPLETED");
  await forgetWaysBack(server.stateDir, () => true);
  const refused = await refusalOf(server.client.undoChangeSet({ sessionId }));
  expect(refused).toMatchObject({ code: "failed_precondition", info: "content_gone" });
  expect(await server.workspace.read("data.db")).toBe("small\n");
});

test("no name that a disk can have, and no read-only file, keeps a change set from going back", async () => {
  const names = ["aux.c", "con.py", "end.", "a:b.txt", "back\\slash", "~t", "$v", "nul/x"];
  const quoted = names.map((name) => `'${name}'`).join(" ");
  await using place = await world(
    {
      change: [bash(`for f in ${quoted}; do echo agent >"$f"; done; echo new >prn.new`)],
      remove: [bash(`rm ${quoted}`)],
    },
    Object.fromEntries(names.map((name) => [name, "user\n"])),
    staged,
  );
  const { server, sessionId, run } = place;
  const texts = () => Promise.all(names.map((name) => server.workspace.read(name)));
  for (const word of ["change", "remove"]) {
    expect(await run(word)).toBe("COMPLETED");
    expect((await server.client.undoChangeSet({ sessionId })).files.length).toBeGreaterThanOrEqual(names.length);
    expect(new Set(await texts())).toEqual(new Set(["user\n"]));
    expect(existsSync(server.workspace.path("prn.new"))).toBe(false);
  }
});
