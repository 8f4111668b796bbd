import { expect, test, vi } from "vitest";
import type { CallOutcome, Decision, GateJournal } from "#gate-journal";
import { withCallHooks } from "#hooks/hooks-journal";

/** Ends a patch of so many files, with a hook that uses up all of its time each time. */
async function patchOf(files: number, timeout: number) {
  let now = 0;
  vi.spyOn(performance, "now").mockImplementation(() => now);
  const given: number[] = [];
  const warnings: string[] = [];
  const end = vi.fn<GateJournal["end"]>(async () => undefined);
  const journal = { end, warn: (text: string) => void warnings.push(text) } as unknown as GateJournal;
  const effects = Array.from({ length: files }, (_, at) => ({ type: "write", path: { absolute: `/ws/${at}` } }));
  const hooks: Parameters<typeof withCallHooks>[1] = {
    longestMs: () => timeout * 1000,
    tell: async (_event, { mostMs }) => {
      const usedMs = Math.min(timeout * 1000, mostMs);
      given.push(usedMs / 1000);
      now += usedMs;
      return { notes: [], messages: ["it timed out"] };
    },
  };
  const { end: endWithHooks } = withCallHooks(journal, hooks, {
    note: () => undefined,
    stop: () => undefined,
    signal: new AbortController().signal,
  });
  const result = { call: { id: "c", name: "apply_patch" }, args: { input: "" }, outcome: {} } as CallOutcome;
  await endWithHooks([{ result, decision: { effects } as unknown as Decision }], "turn");
  vi.restoreAllMocks();
  expect(end).toHaveBeenCalledOnce();
  return { times: given, warnings };
}

test("a hook that hangs holds a patch of many files for a minute in all", async () => {
  const { times, warnings } = await patchOf(300, 25);
  expect(times).toEqual([25, 25, 10]);
  expect(warnings.at(-1)).toBe(
    "Hooks were not run for 297 of 300 files that apply_patch changed: they have 60 s for all.",
  );
});

test("a hook that may take longer than that has its time", async () => {
  const { times } = await patchOf(2, 600);
  expect(times).toEqual([600]);
});

test("a few files are all told", async () => {
  const { times, warnings } = await patchOf(3, 10);
  expect(times).toEqual([10, 10, 10]);
  expect(warnings.join()).not.toContain("not run");
});
