import { expect, test } from "vitest";
import { isOwnBranch, isOwnTip } from "#session/state/own-refs";

const head = { name: "HEAD", from: "ref: refs/heads/given", to: "ref: refs/heads/made" };
const made = { name: "refs/heads/made", from: undefined, to: "1".repeat(40) };
const tag = { name: "refs/tags/user", from: undefined, to: "1".repeat(40) };

test.each([
  ["made", true],
  ["given", true],
  ["user", false],
  ["mad", false],
])("%s is the session's: %s", (name, isOwn) => {
  expect(isOwnBranch([{ refs: [] }, { refs: [tag, made, head] }], name)).toBe(isOwn);
});

test.each([
  ["made", "2", true],
  ["made", "1", false],
  ["given", "2", false],
  ["user", "2", false],
])("%s at %s is as the session made and left it: %s", (name, at, isOwn) => {
  const on = (branch: string) => ({ name: `refs/heads/${branch}`, from: "1".repeat(40), to: "2".repeat(40) });
  expect(isOwnTip([{ refs: [made, head] }, { refs: [on("given"), on("made")] }], name, at.repeat(40))).toBe(isOwn);
});
