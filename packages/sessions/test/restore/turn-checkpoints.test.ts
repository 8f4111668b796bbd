import { execFileSync } from "node:child_process";
import { setImmediate } from "node:timers/promises";
import type { SessionEvent } from "@gennai/agent/events/session-event";
import { GitMissingError } from "@gennai/git/run/machine-git";
import { startGit } from "@gennai/git/run/start-git";
import type { Effect } from "@gennai/governance/effect";
import type { Tool } from "@gennai/governance/tool";
import { CheckpointError, type CheckpointErrorCode } from "@gennai/store/checkpoints/checkpoint-error";
import { ShadowGit } from "@gennai/store/checkpoints/shadow-git";
import { WorkspaceCheckpoints } from "@gennai/store/checkpoints/workspace-checkpoints";
import { executionContext } from "@gennai/testkit/execution-context";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { afterEach, expect, test, vi } from "vitest";
import { TurnCheckpoints } from "#restore/turn-checkpoints";
import { inputWith } from "../../../governance/test/policies/effects.ts";

vi.mock("@gennai/git/run/start-git", { spy: true });

afterEach(() => void vi.mocked(startGit).mockReset());

const place = { raw: "a", relative: "a", absolute: "/w/a", inside: true };
const external = (readsOnly: boolean): Effect => ({
  type: "external",
  server: "s",
  tool: "t",
  definition: "",
  accepted: "yes",
  trusted: true,
  paths: [],
  readsOnly,
});
const write: Effect = { type: "write", operation: "update", path: place, base: undefined, current: undefined };

function world(failure?: CheckpointErrorCode) {
  const log: string[] = [];
  const events: SessionEvent[] = [];
  const state: { problem: { code: CheckpointErrorCode; message: string } | undefined } = { problem: undefined };
  let closing = Promise.withResolvers<void>();
  closing.resolve();
  const turn = new TurnCheckpoints({
    checkpoints: {
      get problem() {
        return state.problem;
      },
      open: async () => {
        log.push("open");
        if (failure === undefined) return "c-1";
        state.problem = { code: failure, message: "no" };
        throw new CheckpointError(failure, "no");
      },
      close: async () => {
        await closing.promise;
        log.push("close");
        return [{ path: "a", before: { type: "absent" }, after: { type: "file", object: "0" } }];
      },
    },
    sessionId: "s",
    emit: (event) => events.push(event),
    commit: async (event) => {
      await setImmediate();
      log.push("noted");
      events.push(event);
    },
  });
  const stop = new AbortController();
  const context = executionContext({ callId: "1", turnId: "t", signal: stop.signal });
  const run = (effects: readonly Effect[], access: Tool["access"] = "change") => {
    return turn.around({ name: "T", access }, { effects }, context, async () => {
      log.push("run");
      return { output: "" };
    });
  };
  const decide = (effects: readonly Effect[]) =>
    turn.policy.decide(inputWith({ callId: "1", analysis: { statement: "", effects } }), { signal: context.signal });
  return { log, events, run, decide, stop, turn, hold: () => (closing = Promise.withResolvers<void>()) };
}

test.each<readonly [string, readonly Effect[], readonly string[]]>([
  ["what runs something", [external(false)], ["open", "noted", "run", "close"]],
  ["what by its user's word only reads", [external(true)], ["run"]],
  ["what writes files", [write], ["run"]],
])("snapshots around %s", async (_name, effects, expected) => {
  const { run, log } = world();
  await run(effects);
  await run([write]);
  expect(log.slice(0, -1)).toEqual(expected);
});

test("nothing changes a file while the tree after a command is kept", async () => {
  const { run, log, hold, events } = world();
  const held = hold();
  await run([external(false)]);
  const next = run([write]);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(log).toEqual(["open", "noted", "run"]);
  held.resolve();
  await next;
  expect(log).toEqual(["open", "noted", "run", "close", "run"]);
  expect(events).toEqual([
    { type: "checkpoint-taken", checkpointId: "c-1", toolCallId: "1", toolName: "T" },
    { type: "checkpoint-closed", checkpointId: "c-1", files: [{ path: "a", operation: "create" }], more: 0 },
  ]);
});

test("without a snapshot nothing runs; the next time a person is asked, and their yes holds", async () => {
  const { run, log, decide, events } = world("too_large");
  expect(decide([external(false)])).toEqual({ type: "allow" });
  await expect(run([external(false)])).rejects.toMatchObject({ code: "no_checkpoint", retryable: true });
  expect(log).toEqual(["open"]);
  expect(decide([write])).toEqual({ type: "allow" });
  expect(decide([external(false)])).toMatchObject({ type: "ask", finding: { code: "no_checkpoint" } });
  await run([external(false)]);
  expect(log).toEqual(["open", "open", "run"]);
  expect(events).toMatchObject([{ type: "warning" }]);
});

test("where git is missing, commands run with a warning, once a turn", async () => {
  const { run, log, decide, events } = world("git_missing");
  await run([external(false)]);
  await run([external(false)]);
  expect(log).toEqual(["open", "run", "open", "run"]);
  expect(decide([external(false)])).toEqual({ type: "allow" });
  expect(events).toMatchObject([{ type: "warning" }]);
});

test("a missing git is told apart from one that fails", async () => {
  await using base = await temporaryDirectory({ "workspace/a.ts": "a\n" });
  vi.mocked(startGit).mockRejectedValue(new GitMissingError("git is not installed."));
  await using checkpoints = new WorkspaceCheckpoints({ stateDir: base.path("state"), root: base.path("workspace") });
  await expect(checkpoints.open("s", new AbortController().signal)).rejects.toMatchObject({ code: "git_missing" });
  expect(checkpoints.problem?.code).toBe("git_missing");
});

test("a turn that was stopped does not wait for ever for a git that hangs", async () => {
  const { run, hold, stop, turn, events } = world();
  hold();
  await run([external(false)]);
  vi.useFakeTimers();
  try {
    stop.abort();
    await vi.advanceTimersByTimeAsync(10_000);
    await turn.settle();
  } finally {
    vi.useRealTimers();
  }
  expect(events.at(-1)).toMatchObject({ type: "warning", text: expect.stringContaining("were not recorded") });
});

test("a git that hangs is gone a moment after it was stopped", async () => {
  await using workspace = await temporaryDirectory();
  await using state = await temporaryDirectory();
  // Nobody ever writes into it.
  execFileSync("mkfifo", [workspace.path(".gitignore")]);
  await workspace.write("a.ts", "a\n");
  const git = new ShadowGit(state.root, workspace.root);
  git.prepare();
  const began = performance.now();
  await expect(
    git.run(["ls-files", "--others", "--exclude-standard"], { signal: AbortSignal.timeout(300) }),
  ).rejects.toThrow("timeout");
  expect(performance.now() - began).toBeLessThan(6_000);
});
