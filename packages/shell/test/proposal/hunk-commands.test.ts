import { unifiedDiff } from "@gennai/machine/changes/unified-diff";
import { expect, test } from "vitest";
import { hunkCommands } from "#proposal/hunk-commands";

const lines = (from: number, to: number): string =>
  Array.from({ length: to - from + 1 }, (_none, index) => `${from + index}\n`).join("");
const base = lines(1, 40);

const rows = [
  {
    name: "a command and a file tool, far apart",
    steps: [
      [base.replace("3\n", "three\n"), ""],
      [base.replace("3\n", "three\n").replace("37\n", "x\n"), "fmt"],
    ],
    wanted: [[], ["fmt"]],
  },
  {
    name: "a line removed, and one added",
    steps: [
      [base.replace("\n5\n", "\n"), "rm5"],
      [`${base.replace("\n5\n", "\n")}41\n`, "add41"],
    ],
    wanted: [["rm5"], ["add41"]],
  },
  {
    name: "two commands in one hunk, in their order",
    steps: [
      [base.replace("20\n", "b\n"), "second line"],
      [base.replace("20\n", "b\n").replace("19\n", "a\n"), "first line"],
    ],
    wanted: [["second line", "first line"]],
  },
  {
    name: "what a command made and a tool made again is the tool's, but for the line that the command took away",
    steps: [
      [base.replace("20\n", "b\n"), "cmd"],
      [base.replace("20\n", "c\n"), ""],
    ],
    wanted: [["cmd"]],
  },
  {
    name: "what was taken back is nobody's",
    steps: [
      [base.replace("20\n", "b\n"), "cmd"],
      [base, "undo"],
      [base.replace("30\n", "z\n"), ""],
    ],
    wanted: [[]],
  },
  { name: "a new file", base: "", steps: [["a\nb", "touch"]], wanted: [["touch"]] },
  { name: "a removed file", steps: [["", "rm"]], wanted: [["rm"]] },
] as const;

test.each(rows)("hunks are told by the commands that changed them: $name", ({ steps, wanted, ...row }) => {
  const from = "base" in row ? row.base : base;
  const newText = steps.at(-1)?.[0] ?? "";
  const { hunks } = unifiedDiff({ path: "a", operation: "update", oldText: from, newText });
  const found = hunkCommands(
    from,
    steps.map(([text, command]) => ({ text, command })),
    hunks,
  );
  expect(found).toEqual(wanted);
});
