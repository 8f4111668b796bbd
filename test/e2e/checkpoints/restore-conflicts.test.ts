import { chmod, stat } from "node:fs/promises";
import { listCheckpoints, restoreCheckpoint } from "@gennai/client/session/checkpoints";
import { EmergencyControl } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { defaultLimits } from "@gennai/server/admission/limits";
import type { TestServer } from "@gennai/testkit/test-server";
import { expect, test } from "vitest";
import { allEvents, eventsOf, refusalOf, runTurn, startSession } from "../rpc/session-client.ts";
import { bash, call, world } from "./checkpoint-world.ts";

const { signal } = new AbortController();

const newest = async ({ client }: TestServer, sessionId: string): Promise<string> =>
  (await listCheckpoints(client, sessionId, { signal })).checkpoints.at(-1)?.checkpointId ?? "";

const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;

test("nothing is restored while a turn of the session runs", async () => {
  await using place = await world(
    { go: [bash("echo agent > a.ts")], slow: [bash("echo slow > b.ts; sleep 3; echo slower > b.ts")] },
    { "a.ts": "a\n", "b.ts": "b\n" },
  );
  const { server, sessionId, run } = place;
  await run("go");
  const request = { sessionId, checkpointId: await newest(server, sessionId), paths: ["a.ts"], force: true };

  const running = run("slow");
  await expect.poll(() => server.workspace.read("b.ts")).toBe("slow\n");
  expect(await refusalOf(restoreCheckpoint(server.client, request, { signal }))).toMatchObject({
    code: "failed_precondition",
    info: "turn_running",
    hint: "Wait for its end, or stop it.",
  });
  expect(await running).toBe("COMPLETED");
  expect(await server.workspace.read("a.ts")).toBe("agent\n");
  await restoreCheckpoint(server.client, request, { signal });
  expect(await server.workspace.read("a.ts")).toBe("a\n");
});

test("two sessions that write in one tree: the second is told so, and restores nothing meanwhile", async () => {
  await using place = await world(
    {
      slow: [bash("echo slow > b.ts; sleep 4")],
      other: [call("Write", { file_path: "new.txt", content: "1\n" })],
      more: [call("Write", { file_path: "more.ts", content: "1\n" })],
    },
    { "b.ts": "b\n" },
    // Long enough to be waited for, too short for the other turn.
    { limits: { ...defaultLimits, treeWaitMs: 300 } },
  );
  const { server, run } = place;
  const other = await startSession(server);
  await runTurn(server, other, "other");
  const request = { sessionId: other, checkpointId: await newest(server, other) };
  const running = run("slow");
  await expect.poll(() => server.workspace.read("b.ts")).toBe("slow\n");

  const events = await runTurn(server, other, "more");
  const { error } = JSON.parse(eventsOf(events, "toolResult")[0]?.output ?? "{}");
  expect(error).toMatchObject({ code: "workspace_busy", rule: "single-writer/workspace-busy", retryable: true });
  expect(error.hint).toContain("a git worktree of your own");
  expect(await refusalOf(restoreCheckpoint(server.client, request, { signal }))).toMatchObject({
    code: "failed_precondition",
    info: "tree_in_use",
  });
  expect(await server.workspace.read("new.txt")).toBe("1\n");
  // To look is nobody's harm.
  const looked = await restoreCheckpoint(server.client, { ...request, dryRun: true }, { signal });
  expect(looked.files.map(({ path }) => path)).toEqual(["new.txt"]);
  expect(await running).toBe("COMPLETED");
});

test("an undo whose server went away before it was recorded is recorded by the next", async () => {
  await using place = await world(
    { go: [call("Write", { file_path: "new.txt", content: "1\n" }), call("Delete", { file_path: "b.ts" })] },
    { "b.ts": "b\n" },
  );
  const { server, sessionId, run } = place;
  await run("go");
  await server.workspace.write("b.ts", "b\n");
  const { changeSetId } = await server.client.undoChangeSet({ sessionId });
  const undone = eventsOf(await allEvents(server, sessionId), "changeSetUndone");
  expect(undone.map((event) => event.changeSetId)).toEqual([changeSetId]);
});

test("moving keeps permission bits, and so does taking back: of a move, and of a file made anew", async () => {
  await using place = await world(
    {
      move: [call("Read", { file_path: "run.sh" }), call("Move", { from: "run.sh", to: "bin/start.sh" })],
      anew: [
        call("Read", { file_path: "run.sh" }),
        call("Delete", { file_path: "run.sh" }),
        call("Write", { file_path: "run.sh", content: "#!/bin/bash\n" }),
      ],
    },
    { "run.sh": "#!/bin/sh\n" },
  );
  const { server, sessionId, run } = place;
  const { workspace } = server;
  await chmod(workspace.path("run.sh"), 0o755);
  expect(await run("move")).toBe("COMPLETED");
  expect(await modeOf(workspace.path("bin/start.sh"))).toBe(0o755);
  await server.client.undoChangeSet({ sessionId });
  expect(await modeOf(workspace.path("run.sh"))).toBe(0o755);
  await expect(stat(workspace.path("bin"))).rejects.toThrow("ENOENT");

  expect(await run("anew")).toBe("COMPLETED");
  await server.client.undoChangeSet({ sessionId });
  expect(await workspace.read("run.sh")).toBe("#!/bin/sh\n");
  expect(await modeOf(workspace.path("run.sh"))).toBe(0o755);
});

test("a frozen workspace takes no undo", async () => {
  await using place = await world({ go: [call("Write", { file_path: "new.txt", content: "1\n" })] });
  const { server, sessionId, run } = place;
  await run("go");
  const { governance } = server;
  const readOnly = (enabled: boolean) =>
    governance.setEmergencyControl({ control: EmergencyControl.READ_ONLY, enabled, by: "ann", reason: "look" });
  await readOnly(true);
  expect(await refusalOf(server.client.undoChangeSet({ sessionId }))).toMatchObject({
    code: "permission_denied",
    info: "read_only_mode",
  });
  expect(await server.workspace.read("new.txt")).toBe("1\n");
  await readOnly(false);
  await server.client.undoChangeSet({ sessionId });
  await expect(stat(server.workspace.path("new.txt"))).rejects.toThrow("ENOENT");
});
