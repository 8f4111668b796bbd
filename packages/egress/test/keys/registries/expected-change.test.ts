import { verbOf } from "@gennai/governance/programs/known-programs";
import { expect, test } from "vitest";
import { expectedChange } from "#keys/registries/expected-change";

function expected(command: string) {
  const [name = "", ...words] = command.split(" ");
  const call = verbOf(name, words);
  return call && expectedChange(call);
}

test.each([
  ["npm dist-tag add demo@1.0.0 beta", "set the tag beta of demo to 1.0.0"],
  ["npm dist-tags add @me/demo@1.0.0 --otp=123456", "set the tag latest of @me/demo to 1.0.0"],
  ["pnpm dist-tag add demo@1.0.0 next", "set the tag next of demo to 1.0.0"],
  ["cargo yank demo@1.0.0", "yank demo 1.0.0"],
  ["cargo yank --version 1.0.0 demo --undo", "unyank demo 1.0.0"],
  ["cargo yank --registry corp demo --vers=1.0.0", "yank demo 1.0.0"],
])("%s: %s, and nothing else", (command, what) => {
  const change = expected(command);
  expect(change?.what).toBe(what);
  expect(change?.covers(what)).toBe(true);
  expect(change?.covers(`${what}0`)).toBe(false);
});

test.each([
  "npm dist-tag ls demo",
  "npm dist-tag add demo@1.0.0 beta --prefix x",
  "npm owner add you demo",
  "npm unpublish demo@1.0.0",
  "cargo yank demo",
  "cargo yank demo@1.0.0 other@1.0.0",
  "cargo publish",
])("%s: its words alone do not say it", (command) => {
  expect(expected(command)).toBeUndefined();
});

test.each<[command: string, covered: readonly string[], others: readonly string[]]>([
  [
    "npm deprecate demo@1.0.0 old",
    ['change demo: set versions."1.0.0".deprecated to "old"'],
    [
      'change demo: set versions."1.0.1".deprecated to "old"',
      'change demo: set versions."1.0.0".deprecated to "new"',
      'change demo: set versions."1.0.0".deprecated to "old"; set readme to "x"',
      'change demo2: set versions."1.0.0".deprecated to "old"',
      "change demo: nothing",
    ],
  ],
  [
    "npm deprecate @me/demo@<2 (a+b)",
    [
      'change @me/demo: set versions."1.0.0".deprecated to "(a+b)"',
      'change @me/demo: set versions."1.0.0".deprecated to "(a+b)"; set versions."1.1.0-a".deprecated to "(a+b)"',
    ],
    ['change @me/demo: set versions."1.0.0".deprecated to "(a+b)"; remove versions."1.1.0"'],
  ],
  ["npm undeprecate demo", ['change demo: set versions."1.0.0".deprecated to ""'], []],
])("%s: of the versions that the registry has, and nothing else", (command, covered, others) => {
  const change = expected(command);
  expect(covered.filter((what) => change?.covers(what) !== true)).toEqual([]);
  expect(others.filter((what) => change?.covers(what) !== false)).toEqual([]);
});
