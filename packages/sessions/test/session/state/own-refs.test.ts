import { expect, test } from "vitest";
import { isOwnBranch } from "#session/state/own-refs";

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
