import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRedactor } from "@gennai/machine/redaction/redactor";
import { expect, test } from "vitest";
import type { EmergencyRequest } from "#rules/emergency-change";
import { EmergencyControls } from "#rules/emergency-controls";
import { EmergencyStore } from "#rules/emergency-store";

const on: EmergencyRequest = { control: "stop-all", enabled: true, tool: "", by: "ann", reason: "stop", via: "rpc" };

/** Controls of a server that writes down what it was told to do. */
async function controlsOf(authenticated: boolean) {
  await using parts = new AsyncDisposableStack();
  const directory = await realpath(await mkdtemp(join(tmpdir(), "gennai-controls-")));
  parts.defer(() => rm(directory, { recursive: true }));
  const store = parts.use(await EmergencyStore.open(directory, { onWarning: () => undefined, now: Date.now }));
  const steps: string[] = [];
  const controls = parts.use(
    new EmergencyControls({
      store,
      authenticated,
      redactor: await createRedactor({ secrets: ["hunter2hunter2"] }),
      workspaceRoots: async () => [],
      announce: async ({ control, enabled }) => void steps.push(`announce ${control} ${enabled}`),
      stopWork: async (reason) => {
        steps.push(reason);
        return ["turn-1"];
      },
      onError: (error) => void steps.push(String(error)),
    }),
  );
  const owned = parts.move();
  return { controls, store, steps, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

test("a server that asks nobody for a token lets controls be tightened and not lifted", async () => {
  await using open = await controlsOf(false);
  expect((await open.controls.set(on)).stoppedTurnIds).toEqual(["turn-1"]);
  await expect(open.controls.set({ ...on, enabled: false })).rejects.toMatchObject({ code: "permission_denied" });
  expect(open.controls.current().stopAll).toBe(true);
});

test("stopping everything tells the sessions, ends the work, and holds turns back until it is lifted", async () => {
  await using open = await controlsOf(true);
  open.controls.assertTurnsMayStart();
  expect(await open.controls.set(on)).toMatchObject({ state: { stopAll: true }, stoppedTurnIds: ["turn-1"] });
  expect(open.steps).toEqual(["announce stop-all true", "Stopped by ann: stop"]);
  expect(() => open.controls.assertTurnsMayStart()).toThrow("All work is stopped");
  await open.controls.set({ ...on, enabled: false });
  open.controls.assertTurnsMayStart();
});

test("secrets in a reason are not kept", async () => {
  await using open = await controlsOf(true);
  await open.controls.set({ ...on, reason: "the key hunter2hunter2 leaked" });
  expect(JSON.stringify(open.store.history(1))).not.toContain("hunter2");
});

test("of two at once the loser is told that the control stays on", async () => {
  await using open = await controlsOf(true);
  await open.controls.set(on);
  await expect(open.controls.set({ ...on, by: "bob", enabled: false })).rejects.toMatchObject({
    code: "failed_precondition",
  });
  expect(open.controls.current().stopAll).toBe(true);
  expect(open.steps.at(-1)).toBe("Stopped by ann: stop");
});
