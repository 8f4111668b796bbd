import { describe, expect, it } from "vitest";
import type { FileWrite } from "#effect";
import { createFreshnessPolicy } from "#policies/files/freshness";
import { decide, inside, summary, write } from "../effects.ts";

const policy = createFreshnessPolicy();
const disk = (sha256: string) => ({ source: "disk", sha256 }) as const;
const buffer = (sha256: string) => ({ source: "buffer", sha256 }) as const;

const rows: readonly [name: string, effect: Partial<FileWrite>, expected: string][] = [
  ["an update of what was read", { base: disk("a"), current: "a" }, "allow"],
  ["an update of a buffer that is saved", { base: buffer("a"), current: "a" }, "allow"],
  ["an update of what was never read", { current: "a" }, "deny not_read"],
  ["an update of what changed", { base: disk("a"), current: "b" }, "deny stale_file"],
  ["an update of a buffer that is not what is on disk", { base: buffer("a"), current: "b" }, "deny stale_file"],
  ["an update of what is gone", { base: disk("a") }, "deny stale_file"],
  ["a delete of what was never read", { operation: "delete", current: "a" }, "deny not_read"],
  ["a delete of what changed", { operation: "delete", base: disk("a"), current: "b" }, "deny stale_file"],
  ["a delete of what was read", { operation: "delete", base: disk("a"), current: "a" }, "allow"],
  ["a new file", { operation: "create" }, "allow"],
  ["a new file where one is", { operation: "create", current: "a" }, "deny file_exists"],
  ["a new file where one was read and is gone", { operation: "create", base: disk("a") }, "deny stale_file"],
  ["a new file over what was read", { operation: "create", base: disk("a"), current: "a" }, "allow"],
  ["a new file over what changed", { operation: "create", base: disk("a"), current: "b" }, "deny stale_file"],
];

describe("seed 001 stale: freshness", () => {
  it.each(rows)("%s: %o: %s", async (_name, effect, expected) => {
    expect(summary(await decide(policy, write(inside("src/a.ts"), effect)))).toBe(expected);
  });

  it("keeps the words that the model and people know, and says what to do", async () => {
    expect(await decide(policy, write(inside("a"), { current: "x" }))).toMatchObject({
      finding: {
        reason: "Stale File: a has not been read in this session.",
        retryable: true,
        hint: "Read a first, then try again.",
      },
    });
    expect(await decide(policy, write(inside("a"), { base: disk("y"), current: "x" }))).toMatchObject({
      finding: { reason: "Stale File: a changed since it was read.", retryable: true },
    });
    expect(await decide(policy, write(inside("a"), { base: buffer("y"), current: "x" }))).toMatchObject({
      finding: { reason: expect.stringContaining("buffer") },
    });
  });
});
