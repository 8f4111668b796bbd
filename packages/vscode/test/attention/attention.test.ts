import { describe, expect, it } from "vitest";
import { Attention } from "../../src/attention/attention.ts";

function world(seen = false) {
  let time = 0;
  const timers = new Map<number, { readonly at: number; readonly callback: () => void }>();
  const shown: { readonly message: string; readonly close: () => void }[] = [];
  let last = 0;
  const attention = new Attention({
    isSeen: () => seen,
    show: (message) => new Promise((resolve) => shown.push({ message, close: resolve })),
    now: () => time,
    after(milliseconds, callback) {
      const id = ++last;
      timers.set(id, { at: time + milliseconds, callback });
      return () => timers.delete(id);
    },
  });
  const pass = async (milliseconds: number) => {
    time += milliseconds;
    for (const [id, { at, callback }] of timers) {
      if (at > time) continue;
      timers.delete(id);
      callback();
    }
    await Promise.resolve();
  };
  const close = async () => {
    shown.at(-1)?.close();
    await new Promise((resolve) => setTimeout(resolve, 0));
  };
  return { attention, pass, close, messages: () => shown.map(({ message }) => message) };
}

const questions = (...titles: string[]) => new Map(titles.map((title) => [title, title]));

describe("Attention", () => {
  it("tells questions that come together at once", async () => {
    const { attention, pass, messages } = world();
    attention.update(questions("a"));
    attention.update(questions("a", "b", "c"));
    await pass(1000);
    expect(messages()).toEqual(["Gennai waits for 3 answers of yours."]);
  });

  it("says nothing about what was answered meanwhile, or is seen", async () => {
    const one = world();
    one.attention.update(questions("a"));
    one.attention.update(questions());
    await one.pass(1000);
    const other = world(true);
    other.attention.update(questions("a"));
    await other.pass(1000);
    expect([...one.messages(), ...other.messages()]).toEqual([]);
  });

  it("shows one notification at a time, with a pause between them, and each question once", async () => {
    const { attention, pass, close, messages } = world();
    attention.update(questions("a"));
    await pass(1000);
    for (let count = 0; count < 50; count++) {
      attention.update(questions("a", `q${count}`));
      await pass(100);
    }
    expect(messages()).toEqual(["Gennai waits for your answer: a"]);
    await close();
    await pass(1000);
    expect(messages()).toHaveLength(1);
    await pass(20_000);
    expect(messages()).toEqual(["Gennai waits for your answer: a", "Gennai waits for your answer: q49"]);
    await close();
    await pass(60_000);
    expect(messages()).toHaveLength(2);
  });
});
