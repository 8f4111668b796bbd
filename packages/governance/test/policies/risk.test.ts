import { describe, expect, it } from "vitest";
import type { Effect } from "#effect";
import { computeRisk } from "#policies/risk";
import { exec, inside, write } from "./effects.ts";

describe("seed 003 §4: the highest category of a call counts", () => {
  it.each<[readonly Effect[], string]>([
    [[], "low"],
    [[{ type: "read", path: inside("a") }, { type: "session" }], "low"],
    [[{ type: "propose", path: inside("a"), operation: "delete" }], "low"],
    [[write(inside("a"))], "medium"],
    [[write(inside("a"), { operation: "delete" })], "medium"],
    [[write(inside(".github/workflows/ci.yml"))], "high"],
    [[exec("git status")], "low"],
    [[exec("npm test")], "medium"],
    [[write(inside("a")), exec("sudo ls")], "high"],
    [[{ type: "net", url: "https://example.com" }], "high"],
  ])("%o: %s", (effects, expected) => {
    expect(computeRisk({ statement: "", effects })).toBe(expected);
  });
});
