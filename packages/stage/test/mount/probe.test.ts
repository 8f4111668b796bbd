import { test } from "vitest";
import { testAsOneUser } from "../as-users.ts";
import { mounting } from "../scenario-files.ts";
import { mountScenarios } from "./probe-scenarios.ts";

testAsOneUser(mounting.probe);

// Only root can make the mounts of these.
const byRoot = process.getuid?.() === 0 ? Object.entries(mountScenarios) : [];

test.each(byRoot)("with mounts of others: %s", async (_name, scenario) => scenario());
