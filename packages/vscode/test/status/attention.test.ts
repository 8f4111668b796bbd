import { describe, expect, it } from "vitest";
import { Attention } from "../../src/status/attention.ts";

function world(startSeen = false) {
  let time = 0;
  let seen = startSeen;
  const timers = new Map<number, { readonly at: number; readonly callback: () => void }>();
  const shown: { message: string; open: boolean }[] = [];
  let last = 0;
  const attention = new Attention({
    isSeen: () => seen,
    show: (message) => {
      const one = { message, open: true };
      shown.push(one);
      return {
        say: (other) => {
          one.message = other;
        },
        close: () => {
          one.open = false;
        },
      };
    },
    now: () => time,
    after(milliseconds, callback) {
      const id = ++last;
      timers.set(id, { at: time + milliseconds, callback });
      return () => timers.delete(id);
    },
  });
  const pass = (milliseconds: number) => {
    time += milliseconds;
    for (const [id, { at, callback }] of timers) {
      if (at > time) continue;
      timers.delete(id);
      callback();
    }
  };
  return {
    attention,
    pass,
    look: (isLooking: boolean) => {
      seen = isLooking;
    },
    open: () => shown.filter((one) => one.open).map(({ message }) => message),
    count: () => shown.length,
  };
}

const questions = (...titles: string[]) => new Map(titles.map((title) => [title, title]));

describe("Attention", () => {
  it("names the oldest of the questions that come together, and how many more there are", () => {
    const { attention, pass, open } = world();
    attention.update(questions("Run npm test"));
    attention.update(questions("Run npm test", "b", "c"));
    pass(1000);
    expect(open()).toEqual(["Run npm test (and 2 more)"]);
  });

  it("goes away when the question is answered, by whomever", () => {
    const { attention, pass, open, count } = world();
    attention.update(questions("a", "b"));
    pass(1000);
    attention.update(questions("b"));
    expect(open()).toEqual(["b"]);
    attention.update(questions());
    pass(60_000);
    expect([open(), count()]).toEqual([[], 1]);
  });

  it("says nothing about what was answered meanwhile, or is seen", () => {
    const one = world();
    one.attention.update(questions("a"));
    one.attention.update(questions());
    one.pass(1000);
    const other = world(true);
    other.attention.update(questions("a"));
    other.pass(1000);
    expect([one.count(), other.count()]).toEqual([0, 0]);
  });

  it("tells a question that was seen when the panel is hidden, and stops when it is shown again", () => {
    const { attention, pass, look, open } = world(true);
    attention.update(questions("a"));
    pass(1000);
    look(false);
    attention.update(questions("a"));
    pass(1000);
    expect(open()).toEqual(["a"]);
    look(true);
    attention.update(questions("a"));
    expect(open()).toEqual([]);
  });

  it("has one notification at a time, and shows it anew for new questions with a pause between", () => {
    const { attention, pass, open, count } = world();
    attention.update(questions("a"));
    pass(1000);
    for (let number = 0; number < 50; number++) {
      attention.update(questions("a", `q${number}`));
      pass(100);
    }
    expect([open(), count()]).toEqual([["a (and 1 more)"], 1]);
    pass(20_000);
    expect([open(), count()]).toEqual([["a (and 1 more)"], 2]);
  });

  it("shows a command as text: in one line, short, and with no link of its own", () => {
    const { attention, pass, open } = world();
    attention.update(questions(`Run echo [Allow](command:gennai.x)\n\u202E${"x".repeat(500)}`));
    pass(1000);
    expect(open()[0]).toMatch(/^Run echo \[Allow\] \(command:gennai\.x\) x+…$/);
    expect(open()[0]?.length).toBeLessThan(170);
  });
});
