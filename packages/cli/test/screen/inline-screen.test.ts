import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { type Frame, InlineScreen } from "#screen/inline-screen";
import { LentTerminal } from "#screen/lent-terminal";
import { changedLine, onlyStyles } from "#screen/terminal-line";

test("of what controls a terminal only styles pass", () => {
  fc.assert(
    fc.property(
      fc.string({
        unit: fc.constantFrom("\u001b", "[", "]", "0", "3", "1", ";", "m", "J", "\u0007", "\u009b", "\r", "a", "語"),
      }),
      (text) => {
        const left = onlyStyles(text).replaceAll(/\u001b\[[\d;]*m/g, "");
        expect(left).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
      },
    ),
  );
  expect(onlyStyles("\u001b[31mred\u001b[2J\u001b]52;c;x\u0007")).toBe("\u001b[31mred[2J]52;c;x\u001b[0m");
});

test.each([
  ["› ab", "› abc", "\u001b[5Gc\u001b[K"],
  ["\u001b[36m›\u001b[39m ab", "\u001b[36m›\u001b[39m a", "\u001b[4G\u001b[K"],
  // Behind a wide character nobody knows the column for certain.
  ["語a", "語b", "\r語b\u001b[K"],
  ["\u001b[1mab", "\u001b[1mac", "\r\u001b[1mac\u001b[K"],
])("of a line %j that becomes %j only what differs is written", (before, after, written) => {
  expect(changedLine(before, after)).toBe(written);
});

test("what is finished is written once; of the rest what differs, and nothing as wide as the terminal", () => {
  vi.useFakeTimers();
  let written = "";
  let frame: Frame = { lines: ["x".repeat(200), "› a"], cursor: { row: 1, column: 3 } };
  const terminal = { columns: 40, rows: 4, write: (text: string) => (written += text) };
  const screen = new InlineScreen(terminal, () => frame);
  const drawn = (): string => {
    written = "";
    vi.advanceTimersByTime(100);
    return written;
  };
  screen.refresh();
  expect(drawn()).toMatch(/x{38}/);
  expect(drawn()).toBe("");
  screen.print(["said"]);
  expect(drawn()).toContain("said\r\n");
  frame = { ...frame, lines: [...frame.lines.slice(0, 1), "› ab"], cursor: { row: 1, column: 4 } };
  screen.refresh();
  const key = drawn();
  expect(key).toContain("b\u001b[K");
  expect(key).not.toContain("said");
  expect(key).not.toContain("x");
  frame = { lines: ["1", "2", "3", "4", "5"], cursor: { row: 4, column: 0 } };
  screen.refresh();
  expect(drawn()).not.toContain("1\r\n");
  expect(drawn()).toBe("");
});

test("a view that cannot be drawn, first or later, leaves the terminal's other screen and rejects", async () => {
  for (const drawable of [0, 1]) {
    let written = "";
    let drawn = 0;
    const terminal = {
      columns: 40,
      rows: 4,
      write: (text: string) => (written += text),
      start: vi.fn<() => void>(),
      stop: vi.fn<() => void>(),
    };
    const resumed = vi.fn<() => void>();
    const lent = new LentTerminal(terminal, { pause: () => ({ [Symbol.dispose]: resumed }) });
    const shown = lent.onWhole(() => ({
      rows: () => {
        if (drawn++ === drawable) throw new RangeError("too long");
        return ["row"];
      },
      handle: () => undefined,
    }));
    lent.draw({ isWhole: true });
    await expect(shown).rejects.toThrow("too long");
    expect(written.endsWith("\u001b[?1049l")).toBe(true);
    expect([lent.view, resumed.mock.calls.length]).toEqual([undefined, 1]);
  }
});
