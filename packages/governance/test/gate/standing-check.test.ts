import { expect, it } from "vitest";
import * as z from "zod";
import { governTools } from "#gate/gate";
import type { StandingCheck } from "#gate/standing-check";
import type { CallOutcome, Decision, GateJournal } from "#gate-journal";
import type { Tool } from "#tool";
import { ToolFailure } from "#tool-error";
import { allow, ask, deny, type Verdict } from "#verdict";
import { gateWith } from "./gate-with.ts";

const refusal = deny({ code: "read_only_mode", rule: "emergency/read-only", reason: "Read-only mode is on." });

/** A check that somebody switches. */
class Switch implements StandingCheck {
  readonly #listeners = new Set<() => void>();
  verdict: Verdict = allow;

  check(): Verdict {
    return this.verdict;
  }

  onChange(listener: () => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  turn(verdict: Verdict): void {
    this.verdict = verdict;
    for (const listener of this.#listeners) listener();
  }

  get watched(): number {
    return this.#listeners.size;
  }
}

/** One changing tool behind a gate; `execute` is what it does. */
function gateOf(standingCheck: StandingCheck, execute: Tool["execute"], hooks: { begin?: () => void } = {}) {
  const ended: { readonly decision: Decision; readonly result: CallOutcome }[] = [];
  const journal: GateJournal = {
    decided: () => undefined,
    begin: async () => hooks.begin?.(),
    end: async (outcomes) => void ended.push(...outcomes),
    reached: async () => undefined,
    output: () => undefined,
    warn: () => undefined,
  };
  const tool: Tool = {
    name: "Change",
    description: "",
    access: "change",
    parameters: z.strictObject({}),
    analyse: async () => ({ statement: "", effects: [{ type: "net", url: "https://a.example" }] }),
    execute,
  };
  const gate = governTools(
    gateWith({ tools: new Map([[tool.name, tool]]), journal, policyTimeoutMs: 50, standingCheck }),
  );
  const run = async () => {
    const signal = new AbortController().signal;
    const [result] = await gate.run([{ id: "c", name: "Change", argumentsJson: "{}" }], { turnId: "t", signal });
    return result;
  };
  return { run, ended };
}

it("seed 003 §12 post-stop: a control switched after the decision stops the call before its effect", async () => {
  const control = new Switch();
  let ran = false;
  const { run, ended } = gateOf(
    control,
    async () => {
      ran = true;
      return { output: "" };
    },
    // Between the decision and the effect: while the write-ahead record is written.
    { begin: () => control.turn(refusal) },
  );
  expect(await run()).toMatchObject({ refused: true, error: { code: "read_only_mode", rule: "emergency/read-only" } });
  expect(ran).toBe(false);
  expect(ended[0]).toMatchObject({
    decision: { verdict: "deny", rule: "emergency/read-only" },
    result: { outcome: undefined, failureClass: "permission_denied" },
  });
  expect(control.watched).toBe(0);
});

it("seed 003 §12 post-stop: a control switched while the call runs ends it, and the record says partial", async () => {
  const control = new Switch();
  const { run, ended } = gateOf(control, async (_args, _analysis, { signal }) => {
    setTimeout(() => control.turn(refusal), 5);
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    return { output: "half", failure: { failureClass: "partial_execution", message: "stopped" } };
  });
  expect(await run()).toMatchObject({ refused: false, output: "half", error: { code: "read_only_mode" } });
  expect(ended[0]?.result).toMatchObject({ failureClass: "partial_execution" });
  expect(control.watched).toBe(0);
});

it("tells a tool that throws on the abort apart from one that failed by itself", async () => {
  const control = new Switch();
  const stopped = gateOf(control, async (_args, _analysis, { signal }) => {
    control.turn(refusal);
    signal.throwIfAborted();
    return { output: "" };
  });
  expect((await stopped.run())?.error?.code).toBe("read_only_mode");
  expect(stopped.ended[0]?.result.failureClass).toBe("partial_execution");

  const failing = gateOf(new Switch(), async () => {
    throw new ToolFailure("stale_file", "Stale File: a");
  });
  expect((await failing.run())?.error?.code).toBe("stale_file");
});

it.each<readonly [string, StandingCheck]>([
  [
    "asks",
    {
      check: () => ask({ code: "x", rule: "r", reason: "?" }),
      onChange: () => ({ [Symbol.dispose]: () => undefined }),
    },
  ],
  [
    "throws",
    {
      check: () => {
        throw new Error("unreadable");
      },
      onChange: () => ({ [Symbol.dispose]: () => undefined }),
    },
  ],
])("a check that %s does not let the call run", async (_name, check) => {
  let ran = false;
  const { run } = gateOf(check, async () => {
    ran = true;
    return { output: "" };
  });
  expect((await run())?.refused).toBe(true);
  expect(ran).toBe(false);
});
