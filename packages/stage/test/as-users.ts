import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { builtProgram } from "@gennai/testkit/built-program";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { StagedBy } from "#mount/mounted-roots";
import { seed } from "../../../scripts/lib/tests/sample.mjs";
import type { Scenarios } from "./run-scenarios.ts";

/** A user without any rights and without a name; tests run by root run as this one, too, with a second group. */
const withoutRights = 61_234;
const secondGroup = 61_235;

const users: readonly (readonly [name: string, id: number | undefined])[] =
  process.getuid?.() === 0
    ? [
        ["root", 0],
        ["a user without rights", withoutRights],
      ]
    : [["this user", undefined]];

export interface ScenarioFile {
  /** A URL. */
  readonly file: string;
  readonly scenarios: Scenarios;
  /** What the names of those begin with that hold the same by other commands. */
  readonly alike?: string;
}

interface Ways {
  /** What commands of them see the roots by; `overlay` without it. */
  readonly stagedBy?: StagedBy | "overlay again";
  /** Scenarios that have rounds have many. */
  readonly isLong?: boolean;
}

/**
 * Declares a test for each scenario and user. What a stage may do depends on who makes it, so a process of that user runs them.
 */
export function testAsUsers({ file, scenarios }: ScenarioFile, ways: Ways = {}): void {
  describe.each(users)("%s", (_name, user) => {
    testAs(user, file, Object.keys(scenarios), ways);
  });
}

/**
 * As `testAsUsers`, but of so many scenarios one, and each as one of the users, as the seed has it; fewer of those that are alike.
 * `stage.long.test.ts` runs all as both.
 * @param ways.oneOf 3 without it, and at least one scenario is run then
 */
export function testAsOneUser(
  { file, scenarios, alike }: ScenarioFile,
  ways: Ways & { readonly oneOf?: number } = {},
): void {
  const { oneOf = Math.min(3, Object.keys(scenarios).length) } = ways;
  const isAlike = (name: string) => alike !== undefined && name.startsWith(alike);
  const names = Object.keys(scenarios).filter(
    (name, index) => (seed + index) % (isAlike(name) ? Math.max(oneOf, 4) : oneOf) === 0,
  );
  const shares = users.map(([name, id], at) => {
    return { name, id, chosen: names.filter((_scenario, index) => (seed + index) % users.length === at) };
  });
  // Of a single scenario, only one user has a share.
  describe.each(shares.filter(({ chosen }) => chosen.length > 0))(`$name (seed ${seed})`, ({ id, chosen }) => {
    testAs(id, file, chosen, ways);
  });
}

function testAs(
  user: number | undefined,
  file: string,
  names: readonly string[],
  { stagedBy = "overlay", isLong = false }: Ways,
): void {
  const results = new Map<string, string | null>();
  let errors = "";
  beforeAll(async () => {
    // Scenarios start programs that a user without rights could not build here.
    builtProgram(file);
    const identity =
      user === undefined
        ? []
        : ["/usr/bin/setpriv", `--reuid=${user}`, `--regid=${user}`, `--groups=${user},${secondGroup}`];
    const program = [fileURLToPath(new URL("run-scenarios.ts", import.meta.url)), fileURLToPath(file), ...names];
    const [first = "", ...rest] = [...identity, process.execPath, ...program];
    const child = spawn(first, rest, {
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        PATH: "/usr/bin:/bin",
        TMPDIR: "/tmp",
        GENNAI_STAGED_BY: stagedBy,
        GENNAI_LONG: isLong ? "1" : "",
        GENNAI_ROUNDS: process.env["GENNAI_ROUNDS"] ?? "",
      },
    });
    const [output, complaints] = await Promise.all([text(child.stdout), text(child.stderr)]);
    errors = complaints;
    for (const line of output.split("\n").filter((each) => each.startsWith("{"))) {
      const { name, failure }: { readonly name: string; readonly failure: string | null } = JSON.parse(line);
      results.set(name, failure);
    }
  }, 3_600_000);
  test.each(names)("%s", (scenario) => {
    expect(results.has(scenario), errors).toBe(true);
    // As a message it is shown whole: a property's counterexample among it.
    expect(results.get(scenario), results.get(scenario) ?? "").toBeNull();
  });
  afterAll(() => results.clear());
}
