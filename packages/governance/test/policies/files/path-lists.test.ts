import { describe, expect, it } from "vitest";
import type { Effect } from "#effect";
import { createPathListsPolicy } from "#policies/files/path-lists";
import { inputWith } from "../effects.ts";

const path = (relative: string) => ({ raw: relative, relative, absolute: `/ws/${relative}`, inside: true });

async function verdict(lists: { allow?: string[]; deny?: string[] }, effect: Effect): Promise<string> {
  const policy = createPathListsPolicy({ allow: lists.allow, deny: lists.deny ?? [] });
  const input = inputWith({ access: "read", analysis: { statement: "", effects: [effect] } });
  return (await policy.decide(input, { signal: new AbortController().signal })).type;
}

describe("path lists", () => {
  it.each([
    { name: "no lists", lists: {}, path: "a/b.ts", wanted: "allow" },
    { name: "denied by name at any depth", lists: { deny: ["*.snap"] }, path: "a/b/c.snap", wanted: "deny" },
    { name: "denied directory covers all below", lists: { deny: ["vendor/"] }, path: "vendor/x/y.ts", wanted: "deny" },
    { name: "case does not matter", lists: { deny: ["vendor"] }, path: "Vendor/x.ts", wanted: "deny" },
    { name: "hidden files match", lists: { deny: ["conf/**"] }, path: "conf/.hidden", wanted: "deny" },
    { name: "allowed", lists: { allow: ["src/**"] }, path: "src/a.ts", wanted: "allow" },
    { name: "not allowed", lists: { allow: ["src/**"] }, path: "docs/a.md", wanted: "deny" },
    {
      name: "deny beats allow",
      lists: { allow: ["src/**"], deny: ["src/secret/**"] },
      path: "src/secret/a.ts",
      wanted: "deny",
    },
    { name: "an empty allow list allows nothing", lists: { allow: [] }, path: "src/a.ts", wanted: "deny" },
    {
      name: "a pattern that looks like a negation is a name",
      lists: { deny: ["!src/**"] },
      path: "src/a.ts",
      wanted: "allow",
    },
  ])("read: $name", async ({ lists, path: relative, wanted }) => {
    expect(await verdict(lists, { type: "read", path: path(relative) })).toBe(wanted);
    expect(await verdict(lists, { type: "propose", path: path(relative), operation: "update" })).toBe(wanted);
  });

  it.each([
    { relative: "", wanted: "allow" },
    { relative: "src", wanted: "allow" },
    { relative: "src/deep", wanted: "allow" },
    { relative: "docs", wanted: "deny" },
  ])("listing $relative on the way to an allowed path: $wanted", async ({ relative, wanted }) => {
    expect(await verdict({ allow: ["src/deep/**"] }, { type: "list", path: path(relative) })).toBe(wanted);
  });
});
