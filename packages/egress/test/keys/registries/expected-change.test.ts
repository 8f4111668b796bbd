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
  ["cargo owner --add you demo", "add you as owners of demo"],
  ["cargo owner demo -r you -r other --registry=corp", "remove you, other as owners of demo"],
  ["npm unpublish @me/demo --force", "unpublish all of @me/demo"],
])("%s: %s, and nothing else", (command, what) => {
  const change = expected(command);
  expect(change?.what).toBe(what);
  expect(change?.covers(`${what}0`)).toBe(false);
  expect(change?.covers(what)).toBe(true);
  expect(change?.covers(what)).toBe(false);
});

test.each([
  ...["npm dist-tag ls demo", "npm dist-tag add demo@1.0.0 beta --prefix x", "npm owner add you"],
  ...["npm owner ls demo", "npm unpublish demo@<2", "npm unpublish demo@1.0.0 other@1.0.0"],
  ...["cargo owner --list demo", "cargo owner --add you --remove me demo", "cargo owner --add you"],
  ...["cargo yank demo", "cargo yank demo@1.0.0 other@1.0.0", "cargo publish"],
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
  [
    "npm owner add you @me/demo",
    ["change @me/demo: add you <you@x.example> as owner", "change @me/demo: add you as owner"],
    [
      "change @me/demo: add you <you@x.example> as owner; add evil <e@x.example> as owner",
      "change @me/demo: remove you as owner",
      "change @me/demo: add you2 as owner",
      "change @me/demo: set the maintainers to you",
    ],
  ],
  [
    "npm unpublish @me/demo@1.0.0",
    [
      'change @me/demo: set "dist-tags".latest to "0.9.0"; remove versions."1.0.0"; remove _attachments',
      "remove the archive demo-1.0.0.tgz of @me/demo",
    ],
    [
      'change @me/demo: remove versions."1.0.1"',
      'change @me/demo: set "dist-tags".latest to "0.0.1"',
      'change @me/demo: remove versions."1.0.0"; set "dist-tags".next to "0.9.0"',
      'change @me/demo: remove versions."1.0.0"; set readme to "x"',
      "remove the archive demo-1.0.1.tgz of @me/demo",
      "remove the archive demo-1.0.0.tgz of demo",
      "unpublish all of @me/demo",
    ],
  ],
  ["npm undeprecate demo", ['change demo: set versions."1.0.0".deprecated to ""'], []],
])("%s: of the versions that the registry has, and nothing else", (command, covered, others) => {
  expect(covered.filter((what) => expected(command)?.covers(what) !== true)).toEqual([]);
  expect(others.filter((what) => expected(command)?.covers(what) !== false)).toEqual([]);
});
