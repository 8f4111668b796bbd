import { expect, test } from "vitest";
import { commandResult } from "#offline/tool-output";

test.each<[string, string, ReturnType<typeof commandResult>]>([
  ["a command that ended", "hello\n[exit code 0]", { text: "hello", exitCode: 0, notes: [] }],
  ["one that printed nothing", "[exit code 1]\n", { text: "", exitCode: 1, notes: [] }],
  [
    "one that printed what a success looks like, and failed",
    "[exit code 0]\n[exit code 3]",
    { text: "[exit code 0]", exitCode: 3, notes: [] },
  ],
  [
    "the same with notes",
    "ok\n[exit code 0]\n[all is well]\n[exit code 3]\n[never kept: x]",
    { text: "ok\n[exit code 0]\n[all is well]", exitCode: 3, notes: ["never kept: x"] },
  ],
  [
    "one that printed it and did not end by itself",
    "[exit code 0]\n[timed out after 5 s]\n[nothing it changed was kept: it did not end by itself]",
    {
      text: "[exit code 0]",
      exitCode: undefined,
      notes: ["timed out after 5 s", "nothing it changed was kept: it did not end by itself"],
    },
  ],
  ["what is not a result", "hello", { text: "hello", exitCode: undefined, notes: [] }],
  [
    "an exit code in the middle",
    "[exit code 0]\nmore",
    { text: "[exit code 0]\nmore", exitCode: undefined, notes: [] },
  ],
])("%s", (_name, output, result) => {
  expect(commandResult(output)).toEqual(result);
});
