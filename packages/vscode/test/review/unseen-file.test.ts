import fc from "fast-check";
import { expect, test } from "vitest";
import {
  afterLooking,
  afterUndo,
  afterWrite,
  placedHunks,
  type UnseenFile,
  unseenHunks,
  withoutHunks,
} from "../../src/review/unseen-file.ts";

const text = fc.array(fc.constantFrom("a\n", "b\n", "c\n", "\n"), { maxLength: 12 }).map((lines) => lines.join(""));

const rows: readonly {
  readonly name: string;
  readonly writes: readonly (readonly [before: string | undefined, after: string | undefined])[];
  readonly wanted: Omit<UnseenFile, "path"> | undefined;
}[] = [
  { name: "a write", writes: [["a\n", "b\n"]], wanted: { base: "a\n", agent: "b\n" } },
  { name: "a new file", writes: [[undefined, "b\n"]], wanted: { base: undefined, agent: "b\n" } },
  { name: "a deleted file", writes: [["a\n", undefined]], wanted: { base: "a\n", agent: undefined } },
  {
    name: "a write that was taken back",
    writes: [
      ["a\n", "b\n"],
      ["b\n", "a\n"],
    ],
    wanted: undefined,
  },
  {
    name: "a new file that was deleted",
    writes: [
      [undefined, "b\n"],
      ["b\n", undefined],
    ],
    wanted: undefined,
  },
  {
    name: "two writes",
    writes: [
      ["a\n", "b\n"],
      ["b\n", "c\n"],
    ],
    wanted: { base: "a\n", agent: "c\n" },
  },
  {
    name: "an edit of the user between two writes, which they know",
    writes: [
      ["a\nb\nc\nd\n", "A\nb\nc\nd\n"],
      ["A\nb\nc\nmine\n", "A\nb\nC\nmine\n"],
    ],
    wanted: { base: "a\nb\nc\nmine\n", agent: "A\nb\nC\nmine\n" },
  },
  {
    name: "an edit of the user in the agent's lines, which they know as well",
    writes: [
      ["a\nb\nc\n", "A\nb\nc\n"],
      ["mine\nb\nc\n", "mine\nb\nC\n"],
    ],
    wanted: { base: "mine\nb\nc\n", agent: "mine\nb\nC\n" },
  },
  { name: "other line ends only", writes: [["a\nb\n", "a\r\nb\r\n"]], wanted: undefined },
  {
    name: "a file that the agent deleted and the user made anew, which they know",
    writes: [
      ["a\n", undefined],
      ["mine\n", "mine\nb\n"],
    ],
    wanted: { base: "mine\n", agent: "mine\nb\n" },
  },
  {
    name: "a file that the agent deleted and wrote again",
    writes: [
      ["a\n", undefined],
      [undefined, "b\n"],
    ],
    wanted: { base: "a\n", agent: "b\n" },
  },
  {
    name: "a file that the user deleted and the agent wrote again",
    writes: [
      ["a\n", "b\n"],
      [undefined, "c\n"],
    ],
    wanted: { base: undefined, agent: "c\n" },
  },
];

test.each(rows)("after $name", ({ writes, wanted }) => {
  let file: UnseenFile | undefined;
  for (const [before, after] of writes) file = afterWrite("f", file, before, after);
  expect(file).toEqual(wanted === undefined ? undefined : { path: "f", ...wanted });
});

test.each([
  { name: "all of it", file: { base: "a\n", agent: "b\n" }, before: "b\n", after: "a\n", wanted: undefined },
  {
    name: "the later of two writes to one line",
    file: { base: "a\nb\n", agent: "C\nb\n" },
    before: "C\nb\n",
    after: "B\nb\n",
    wanted: { base: "a\nb\n", agent: "B\nb\n" },
  },
  {
    name: "what they had looked at, which is not a change of the agent then",
    file: { base: "A\nb\nc\n", agent: "A\nb\nC\n" },
    before: "A\nb\nC\n",
    after: "a\nb\nC\n",
    wanted: { base: "a\nb\nc\n", agent: "a\nb\nC\n" },
  },
  {
    name: "only what they had looked at, once the rest was gone",
    file: { base: "b\n", agent: "c\n" },
    before: "b\n",
    after: "a\n",
    wanted: undefined,
  },
  { name: "a new file", file: { base: undefined, agent: "b\n" }, before: "b\n", after: undefined, wanted: undefined },
  { name: "a delete", file: { base: "a\n", agent: undefined }, before: undefined, after: "a\n", wanted: undefined },
  {
    name: "a delete after a change",
    file: { base: "a\n", agent: undefined },
    before: undefined,
    after: "b\n",
    wanted: { base: "a\n", agent: "b\n" },
  },
])("after a person took back $name", ({ file, before, after, wanted }) => {
  expect(afterUndo({ path: "f", ...file }, before, after)).toEqual(
    wanted === undefined ? undefined : { path: "f", ...wanted },
  );
});

test("undoing every hunk gives the base, looking at every one leaves nothing", () => {
  fc.assert(
    fc.property(text, text, (base, agent) => {
      const file: UnseenFile = { path: "f", base, agent };
      let now = agent;
      for (const hunk of unseenHunks(file)) now = withoutHunks(file, [hunk.id], now) ?? "was refused";
      expect(now).toBe(base);
      // Where lines are equal, the rest can be cut into other hunks than before, and more of them; it comes to an end all the same.
      let left: UnseenFile | undefined = file;
      for (let round = (base + agent).length; round > 0; round--) {
        const [first] = left === undefined ? [] : unseenHunks(left);
        if (left !== undefined && first !== undefined) left = afterLooking(left, first.id);
      }
      expect(left === undefined || unseenHunks(left).length === 0).toBe(true);
    }),
    { examples: [["b\n\nc\na\nc\n", "\nb\nc\na\n\na\n"]] },
  );
});

test("what one looks at is shown no more, and the others stay", () => {
  const file: UnseenFile = { path: "f", base: "a\nb\nc\n", agent: "A\nb\nC\n" };
  const [first, second] = unseenHunks(file);
  const left = afterLooking(file, first?.id ?? "");
  expect(left).toEqual({ path: "f", base: "A\nb\nc\n", agent: "A\nb\nC\n" });
  expect(unseenHunks(left ?? file).map(({ id }) => id)).toEqual([second?.id]);
  expect(afterLooking(file, "no such hunk")).toBe(file);
});

test("a hunk is not taken back once its lines changed, and comes back with them", () => {
  const file: UnseenFile = { path: "f", base: "a\nb\nc\n", agent: "A\nb\nC\n" };
  const [first, second] = unseenHunks(file);
  const now = "above\nmine\nb\nC\nbelow\n";
  expect(withoutHunks(file, [first?.id ?? ""], now)).toBeUndefined();
  expect(withoutHunks(file, ["no such hunk"], now)).toBeUndefined();
  expect(withoutHunks(file, [second?.id ?? ""], now)).toBe("above\nmine\nb\nc\nbelow\n");
  const undone = withoutHunks(file, [second?.id ?? ""], file.agent ?? "") ?? "";
  expect(withoutHunks(file, "all", now)).toBe("above\nmine\nb\nc\nbelow\n");
  expect(withoutHunks(file, "all", "mine\nb\nmine\n")).toBeUndefined();
  const places = (text: string) => placedHunks(file, unseenHunks(file), text).map((span) => span?.start);
  expect({ undone, places: places(undone), again: places("A\nb\nC\n") }).toEqual({
    undone: "A\nb\nc\n",
    places: [0, undefined],
    again: [0, 2],
  });
});

test.each([
  { name: "of Windows", now: "above\r\nA\r\nb\r\n", wanted: "above\r\na\r\nb\r\n" },
  { name: "of both kinds", now: "above\r\nA\nb\r\nlast", wanted: "above\r\na\r\nb\r\nlast" },
  { name: "with a byte-order mark", now: "\uFEFFA\nb\n", wanted: "a\nb\n" },
])("line ends $name stay", ({ now, wanted }) => {
  const file: UnseenFile = { path: "f", base: "a\nb\n", agent: "A\nb\n" };
  expect(withoutHunks(file, [unseenHunks(file)[0]?.id ?? ""], now)).toBe(wanted);
});
