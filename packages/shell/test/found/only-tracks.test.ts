import { expect, test } from "vitest";
import { onlyTracks } from "#found/only-tracks";

const before =
  '[core]\n\tbare = false\n[remote "origin"]\n\turl = https://git.example/r.git\n[branch "old"]\n\tremote = origin\n\tmerge = refs/heads/old\n';
const tracks = (branch = "work", remote = "origin", merge = "refs/heads/work") =>
  `[branch "${branch}"]\n\tremote = ${remote}\n\tmerge = ${merge}\n`;

test.each<[name: string, after: string, expected: boolean]>([
  ["a new branch that tracks a known remote", before + tracks(), true],
  ["two of them", before + tracks() + tracks("two/a", "origin", "refs/heads/two"), true],
  ["the form of Git LFS' data", `${before}[lfs]\n\trepositoryformatversion = 0\n${tracks()}`, true],
  [
    "a further setting of Git LFS",
    `${before}[lfs]\n\trepositoryformatversion = 0\n\turl = https://evil.example\n`,
    false,
  ],
  ["nothing", before, false],
  ["a branch that was there", before + tracks("old"), false],
  ["a remote that is not known", before + tracks("work", "evil"), false],
  ["an address", before + tracks("work", "https://evil.example/r.git"), false],
  ["another ref", before + tracks("work", "origin", "refs/tags/x"), false],
  ["a further setting", `${before}${tracks()}\trebase = true\n`, false],
  ["another section", `${before}${tracks()}[core]\n\tsshCommand = evil\n`, false],
  ["a section in its name", `${before}[branch "x"]\n\tremote = origin\n\tmerge = refs/heads/x # [core]\n`, false],
  ["a change before it", before.replace("false", "true") + tracks(), false],
  ["a file without an end of its last line", before.trimEnd() + tracks(), false],
])("%s: %#", (_name, after, expected) => {
  expect(onlyTracks(before, after)).toBe(expected);
});
