import { describe, test } from "vitest";
import { testAsUsers } from "../as-users.ts";
import { mountScenarios, scenarios } from "./probe-scenarios.ts";

testAsUsers({ file: new URL("probe-scenarios.ts", import.meta.url).href, scenarios });

// Only root can make the mounts of these.
const byRoot = process.getuid?.() === 0 ? Object.entries(mountScenarios) : [];

describe("with mounts of others", () => {
  test.each(byRoot)("%s", async (_name, scenario) => scenario());
});
