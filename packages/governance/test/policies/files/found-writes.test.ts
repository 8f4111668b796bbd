import { describe, expect, test } from "vitest";
import type { FileWrite, FoundWrite } from "#effect";
import { createFoundWritesPolicy } from "#policies/files/found-writes";
import { createFreshnessPolicy } from "#policies/files/freshness";
import { createSecretsPolicy } from "#policies/files/secrets";
import { decide, exec, inside, summary, write } from "../effects.ts";

function found(path: string, more: Partial<FoundWrite> = {}, operation: FileWrite["operation"] = "update"): FileWrite {
  const traits = { agreed: false, tracked: false, ignored: false, traits: [], ...more };
  return write(inside(path), { operation, found: traits });
}

describe("what a staged command did to files", () => {
  const policy = createFoundWritesPolicy({ maxDeleted: 2 });

  test.each<[string, FileWrite[], string]>([
    ["an ordinary change", [found("src/a.ts", { tracked: true })], "allow"],
    ["a new file", [found("src/b.ts", {}, "create")], "allow"],
    ["what an edit writes is another policy's", [write(inside("node_modules/a.js"))], "allow"],
    ["as many deleted as may be", ["a", "b"].map((name) => found(name, { tracked: true }, "delete")), "allow"],
    ["one more", ["a", "b", "c"].map((name) => found(name, { tracked: true }, "delete")), "found/many-deleted"],
    ["deleted files that git never had", ["a", "b", "c"].map((name) => found(name, {}, "delete")), "allow"],
    ["a product of a build", [found("dist/a.js", { ignored: true }, "create")], "allow"],
    ["a product that is made again", [found("packages/x/dist/a.js", { ignored: true })], "allow"],
    ["a cache", [found("a/__pycache__/b.pyc", { ignored: true }, "create")], "allow"],
    ["code that git ignores", [found("node_modules/x/i.js", { ignored: true }, "create")], "found/ignored"],
    ["the same, agreed to", [found("node_modules/x/i.js", { ignored: true, agreed: true }, "create")], "allow"],
    ["an ignored file of the user's", [found("notes.private", { ignored: true })], "found/ignored"],
    ["the same, deleted", [found("notes.private", { ignored: true }, "delete")], "found/ignored"],
    ["what is kept nowhere", [found("data.db", { lost: true })], "found/not-kept"],
    ["the same, deleted and tracked", [found("data.db", { tracked: true, lost: true }, "delete")], "found/not-kept"],
    ["what was never committed", [found("a.ts", { tracked: true, thrownAway: true })], "found/thrown-away"],
    ["a large product of a build", [found("dist/a.js", { ignored: true, lost: true })], "allow"],
    ["a large file of the user's in such a place", [found("dist/a.js", { lost: true })], "found/not-kept"],
    ["a large file that is new", [found("data.db", { lost: false }, "create")], "allow"],
    ["a name in other letters", [found("A.txt", { traits: ["case-clash"] }, "create")], "found/case-clash"],
    ["an open database", [found("app.db", { traits: ["open-database"] })], "found/open-database"],
    ["a link to outside", [found("l", { traits: ["leads-outside"] }, "create")], "found/leads-outside"],
    ["a program with its owner's rights", [found("s", { traits: ["set-id"] }, "create")], "found/set-id"],
    ["what git does not show", [found("a.ts", { traits: ["not-shown"] })], "found/not-shown"],
    ["what its user saved too", [found("a.ts", { traits: ["merged"] })], "found/merged"],
    ["what .envrc leads to", [found("env.sh", { traits: ["control-target"] })], "found/control-target"],
    ["a hidden commit", [found("package.json", { traits: ["only-in-index"] })], "found/only-in-index"],
    ["a repository", [found("v/.git", { traits: ["nested-repository"] }, "create")], "found/nested-repository"],
  ])("%s", async (_name, effects, expected) => {
    const verdict = await decide(policy, ...effects);
    expect(verdict.type === "allow" ? "allow" : verdict.finding.rule).toBe(expected);
  });

  test("a name that would hide itself is written out", async () => {
    const verdict = await decide(policy, found("a\u202etxt.exe", { traits: ["odd-name"] }, "create"));
    expect(verdict).toMatchObject({ type: "ask", finding: { reason: expect.not.stringContaining("\u202e") } });
  });

  test("many are counted, and a few named", async () => {
    const verdict = await decide(
      policy,
      ...Array.from({ length: 30 }, (_, index) => found(`node_modules/x/${index}.js`, { ignored: true }, "create")),
    );
    expect(verdict).toMatchObject({ type: "ask", finding: { reason: expect.stringMatching(/4\.js and 25 more\.$/) } });
  });

  test("it need not have been read before: the command did that", async () => {
    expect(summary(await decide(createFreshnessPolicy(), found("src/a.ts", { tracked: true })))).toBe("allow");
    expect(summary(await decide(createFreshnessPolicy(), write(inside("src/a.ts"))))).toBe("deny not_read");
  });

  test("a file with the name of a secret is a person's to look at", async () => {
    expect(summary(await decide(createSecretsPolicy(), found("certs/ca.pem", {}, "create")))).toBe("ask zero_access");
    expect(summary(await decide(createSecretsPolicy(), write(inside("certs/ca.pem"))))).toBe("deny zero_access");
  });

  test("a command that has not run yet is nothing to it", async () => {
    expect(await decide(policy, exec("rm -rf src"))).toEqual({ type: "allow" });
  });
});
