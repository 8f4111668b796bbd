import { describe, expect, test } from "vitest";
import { freeFinding, nodeFinding } from "#machine-checks";

const GiB = 1024 ** 3;

describe("what Gennai needs of a machine", () => {
  test.each([
    [10 * GiB, "ok"],
    [GiB - 1, "warn"],
    [1024 * 1024, "fail"],
  ])("%i bytes free: %s", (free, state) => {
    expect(freeFinding(free, "/").state).toBe(state);
  });

  test.each([
    ["22.13.0", "ok"],
    ["24.21.0", "ok"],
    ["22.12.9", "fail"],
    ["23.3.0", "fail"],
    ["23.4.0", "ok"],
    ["20.19.0", "fail"],
  ])("Node %s: %s", (version, state) => {
    expect(nodeFinding(version).state).toBe(state);
  });
});
