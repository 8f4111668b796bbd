import { createHash } from "node:crypto";
import { chmod, readFile, stat } from "node:fs/promises";
import { listCheckpoints, restoreCheckpoint } from "@gennai/client/session/checkpoints";
import { EmergencyControl } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import type { TestServer } from "@gennai/testkit/test-server";
import { expect, test } from "vitest";
import { allEvents, codeOf, eventOf, eventsOf, refusalOf } from "../rpc/session-client.ts";
import { bash, call, world } from "./checkpoint-world.ts";

const { signal } = new AbortController();

async function indexOf({ workspace }: TestServer): Promise<string> {
  const bytes = await readFile(workspace.path(".git/index"));
  const status = await workspace.git("--no-optional-locks", "status", "--porcelain=v2");
  return `${createHash("sha256").update(bytes).digest("hex")}\n${status}`;
}

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  );

test("what commands and file tools did in a turn is taken back, the user's work and index stay", async () => {
  await using place = await world(
    {
      edit: [call("Write", { file_path: "deep/er/new.ts", content: "new\n" })],
      clean: [bash("rm src/a.ts src/b.sh src/untracked.ts local.cfg && rmdir src && echo built > made.txt")],
    },
    { "src/a.ts": "a\n", "src/b.sh": "#!/bin/sh\n", ".gitignore": "local.cfg\n" },
  );
  const { server, sessionId, run } = place;
  const { workspace } = server;
  await workspace.write("local.cfg", "KEY=1\n");
  await chmod(workspace.path("local.cfg"), 0o600);
  await chmod(workspace.path("src/b.sh"), 0o755);
  await workspace.write("src/a.ts", "dirty\n");
  await workspace.write("src/untracked.ts", "untracked\n");
  await workspace.write("staged.ts", "staged\n");
  await workspace.git("add", "staged.ts");
  const before = await indexOf(server);

  expect(await run("edit")).toBe("COMPLETED");
  expect(await run("clean")).toBe("COMPLETED");
  expect(await exists(workspace.path("src"))).toBe(false);
  await workspace.write("README.md", "the user's own\n");
  const { checkpoints, problem } = await listCheckpoints(server.client, sessionId, { signal });
  expect(problem).toBe("");
  expect(checkpoints.map(({ kind, turnNumber, title, kept }) => ({ kind, turnNumber, title, kept }))).toEqual([
    { kind: "turn", turnNumber: 1, title: "edit", kept: true },
    { kind: "turn", turnNumber: 2, title: "clean", kept: true },
    { kind: "command", turnNumber: 2, title: "Bash", kept: true },
  ]);
  const [first, second] = checkpoints;
  const checkpointId = second?.checkpointId ?? "";

  const planned = await restoreCheckpoint(server.client, { sessionId, checkpointId, dryRun: true }, { signal });
  expect(planned.restoreId).toBe("");
  expect(await exists(workspace.path("src"))).toBe(false);
  const restored = await restoreCheckpoint(server.client, { sessionId, checkpointId }, { signal });
  expect(restored.files.map(({ path, operation }) => `${operation} ${path}`).sort()).toEqual([
    "create local.cfg",
    "create src/a.ts",
    "create src/b.sh",
    "create src/untracked.ts",
  ]);
  expect(planned.files.map(({ path }) => path).sort()).toEqual(restored.files.map(({ path }) => path).sort());
  // Who made it is not certain: a person has to name it.
  expect(restored.skipped).toEqual([{ path: "made.txt", reason: "not_certain" }]);
  const named = { sessionId, checkpointId, paths: ["made.txt"], force: true };
  const made = await restoreCheckpoint(server.client, named, { signal });
  expect(made.files.map(({ path, operation }) => `${operation} ${path}`)).toEqual(["delete made.txt"]);
  expect(await workspace.read("src/a.ts")).toBe("dirty\n");
  expect(await workspace.read("local.cfg")).toBe("KEY=1\n");
  expect((await stat(workspace.path("local.cfg"))).mode & 0o777).toBe(0o600);
  expect((await stat(workspace.path("src/b.sh"))).mode & 0o777).toBe(0o755);
  expect(await workspace.read("README.md")).toBe("the user's own\n");
  expect(await workspace.read("deep/er/new.ts")).toBe("new\n");

  // Back to before everything, its directories too; then that is taken back.
  await restoreCheckpoint(server.client, { sessionId, checkpointId: first?.checkpointId ?? "" }, { signal });
  expect(await exists(workspace.path("deep"))).toBe(false);
  await workspace.write("README.md", "# Test\n");
  expect(await indexOf(server)).toBe(before);
  await restoreCheckpoint(server.client, { sessionId, checkpointId: restored.restoreId }, { signal });
  expect(await exists(workspace.path("src"))).toBe(false);
  expect(await workspace.read("made.txt")).toBe("built\n");
  expect(await workspace.read("deep/er/new.ts")).toBe("new\n");

  const events = await allEvents(server, sessionId);
  expect(eventsOf(events, "checkpointRestored")).toHaveLength(4);
  expect(eventOf(events, "checkpointTaken").toolName).toBe("Bash");
  const { preview } = await server.client.getConversationPreview({ sessionId, maxMessages: 50 });
  expect(JSON.stringify(preview)).toContain("The user restored these files");
});

test("the emergency controls stop a restore, and an unknown checkpoint is none", async () => {
  await using place = await world({ go: [bash("echo agent > a.ts")] }, { "a.ts": "a\n" });
  const { server, sessionId, run } = place;
  await run("go");
  const { checkpoints } = await listCheckpoints(server.client, sessionId, { signal });
  const request = { sessionId, checkpointId: checkpoints[0]?.checkpointId ?? "", paths: ["a.ts"], force: true };
  const { governance } = server;
  await governance.setEmergencyControl({
    control: EmergencyControl.READ_ONLY,
    enabled: true,
    by: "ann",
    reason: "look",
  });
  const refused = await refusalOf(restoreCheckpoint(server.client, request, { signal }));
  expect(refused.code).toBe("permission_denied");
  expect(await server.workspace.read("a.ts")).toBe("agent\n");
  await governance.setEmergencyControl({
    control: EmergencyControl.READ_ONLY,
    enabled: false,
    by: "ann",
    reason: "go",
  });
  const unknown = { sessionId, checkpointId: "c-0" };
  expect(await codeOf(restoreCheckpoint(server.client, unknown, { signal }))).toBe("not_found");
  await restoreCheckpoint(server.client, request, { signal });
  expect(await server.workspace.read("a.ts")).toBe("a\n");
});
