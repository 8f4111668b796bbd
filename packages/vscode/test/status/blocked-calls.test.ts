import type { Violation } from "@gennai/client/view/items/view-item";
import { describe, expect, it } from "vitest";
import { BlockedCalls, quietButton, showRuleButton } from "../../src/status/blocked-calls.ts";

function world() {
  const timers = new Map<number, { at: number; callback: () => void }>();
  const shown: { readonly message: string; readonly choose: (button: string | undefined) => void }[] = [];
  const rules: string[] = [];
  let [time, last, quiet] = [0, 0, false];
  const calls = new BlockedCalls({
    isQuiet: () => quiet,
    show: (message) => new Promise((resolve) => shown.push({ message, choose: resolve })),
    showRule: async ({ words }) => {
      rules.push(words);
    },
    quiet: async () => {
      quiet = true;
    },
    after(milliseconds, callback) {
      const id = ++last;
      timers.set(id, { at: time + milliseconds, callback });
      return () => timers.delete(id);
    },
  });
  return {
    calls,
    pass(milliseconds: number) {
      time += milliseconds;
      for (const [id, { at, callback }] of [...timers]) {
        if (at > time || !timers.delete(id)) continue;
        callback();
      }
    },
    async choose(button: string | undefined) {
      shown.at(-1)?.choose(button);
      await new Promise((resolve) => setTimeout(resolve, 0));
    },
    messages: () => shown.map(({ message }) => message),
    rulesShown: () => rules,
  };
}

const call = (words: string): Violation => ({
  tool: "Bash",
  words,
  rule: "rules/project/1",
  reason: "No.",
  place: ".gennai/rules.yaml:2",
  action: "blocked",
});

describe("BlockedCalls: seed 004 §4 notifications", () => {
  it("tells what was blocked, and why", () => {
    const { calls, pass, messages } = world();
    calls.add(call("git reset --hard"));
    pass(1_000);
    expect(messages()).toEqual(["🛡️ Damage-Control blocked Bash: git reset --hard. No."]);
  });

  it("reports the same once, however often it is tried and whatever happened to the notification", async () => {
    const { calls, pass, choose, messages } = world();
    for (let round = 0; round < 20; round += 1) {
      calls.add(call("git reset --hard"));
      pass(15_000);
      if (round === 3) await choose(undefined);
    }
    expect(messages()).toHaveLength(1);
  });

  it("reports many at once, and waits before it tells again", () => {
    const { calls, pass, messages } = world();
    for (const words of ["a", "b", "c"]) calls.add(call(words));
    pass(1_000);
    for (const words of ["d", "e"]) calls.add(call(words));
    pass(1_000);
    expect(messages()).toEqual(["🛡️ Damage-Control blocked 3 calls, the last one: c. No."]);
    pass(10_000);
    expect(messages()).toHaveLength(2);
  });

  it("shows the rule when asked to", async () => {
    const { calls, pass, choose, rulesShown } = world();
    calls.add(call("a"));
    pass(1_000);
    calls.add(call("b"));
    await choose(showRuleButton);
    expect(rulesShown()).toEqual(["a"]);
  });

  it("is quiet once the user said so", async () => {
    const { calls, pass, choose, messages } = world();
    calls.add(call("a"));
    pass(1_000);
    await choose(quietButton);
    calls.add(call("b"));
    pass(20_000);
    expect(messages()).toHaveLength(1);
  });

  it("begins anew with another session, and ends with the window", () => {
    const { calls, pass, messages } = world();
    calls.add(call("a"));
    pass(1_000);
    calls.forget();
    calls.add(call("a"));
    pass(20_000);
    expect(messages()).toHaveLength(2);
    calls.add(call("b"));
    calls[Symbol.dispose]();
    pass(60_000);
    expect(messages()).toHaveLength(2);
  });
});
