import { EmergencyControl } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { startTestServer, type TestServer } from "@gennai/testkit/test-server";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { cliScene } from "../../cli-scene.ts";

const rowsSchema = z.object({
  same: z.boolean(),
  rows: z.array(z.object({ what: z.string(), values: z.array(z.string()), same: z.boolean() })),
});

const release = { "main.mjs": "console.log(1)\n", "page/app.js": "1\n", ".compile-cache/x.js": "left out\n" };

async function compare(servers: readonly TestServer[], ...args: readonly string[]) {
  await using scene = await cliScene({ "a.txt": "a\n" });
  const console = scene.console();
  for (const [index, { token }] of servers.entries()) console.environment[`GENNAI_AUTH_TOKEN_${index + 1}`] = token;
  console.input.end();
  const { runCommandLine } = await import("#command-line");
  const code = await runCommandLine(["doctor", "--compare", ...servers.map(({ url }) => url), ...args], console);
  return { code, out: console.printed(), err: console.complained() };
}

async function differences(servers: readonly TestServer[]) {
  const { code, out } = await compare(servers, "--json");
  const { same, rows } = rowsSchema.parse(JSON.parse(out));
  return { code, same, rows, differ: rows.filter((row) => !row.same).map(({ what }) => what) };
}

describe("doctor --compare", () => {
  test("seed 003 §11 parity: two deployments of one release under the same rules are the same", async () => {
    await using one = await temporaryDirectory(release);
    await using other = await temporaryDirectory(release);
    await using first = await startTestServer({ server: { releaseDirectory: one.root } });
    await using second = await startTestServer({ server: { releaseDirectory: other.root, token: "u".repeat(43) } });
    const { code, same, rows } = await differences([first, second]);
    expect([code, same]).toEqual([0, true]);
    const names = rows.map(({ what }) => what);
    expect(names).toEqual(
      expect.arrayContaining(["version", "protocol", "policy rules", "policy hooks", "emergency stop-all"]),
    );
    expect(names.filter((what) => what.startsWith("release "))).toEqual(["release main.mjs", "release page/app.js"]);
  });

  test("where their workspaces lie is no difference, also where a rule covers all of one of them", async () => {
    await using first = await startTestServer();
    await using second = await startTestServer();
    const rules = `readOnlyPaths:\n  - "${first.workspace.root}"\n`;
    for (const { workspace } of [first, second]) await workspace.write(".gennai/rules.yaml", rules);
    const { code, differ } = await differences([first, second]);
    expect([code, differ]).toEqual([0, []]);
  });

  test("seed 003 §11 parity: what differs is named, in a table, and the exit code is 1", async () => {
    await using one = await temporaryDirectory(release);
    await using other = await temporaryDirectory({ ...release, "main.mjs": "console.log(2)\n", "extra.mjs": "" });
    await using first = await startTestServer({ server: { releaseDirectory: one.root } });
    await using second = await startTestServer({
      files: { ".gennai/rules.yaml": "bashToolPatterns:\n  - pattern: 'make deploy'\n    reason: by hand only\n" },
      server: { releaseDirectory: other.root, version: "0.0.1-test", protectedBranches: ["prod/*"] },
    });
    const { governance } = second;
    const change = { control: EmergencyControl.READ_ONLY, enabled: true, by: "test", reason: "a test" };
    await governance.setEmergencyControl(change);
    const { code, differ } = await differences([first, second]);
    expect(code).toBe(1);
    expect(differ).toEqual([
      ...["version", "policy rules", "policy branches", "emergency read-only"],
      ...["release main.mjs", "release extra.mjs"],
    ]);
    const { out } = await compare([first, second]);
    expect(out).toMatch(/^DIFF {2}version +0\.0\.0-test +0\.0\.1-test$/m);
    expect(out).toMatch(/^DIFF {2}emergency read-only +off +ON$/m);
    expect(out).toMatch(/^same {2}protocol /m);
    expect(out).toContain("1 of 3 files of the program are the same");
    expect(out).toContain("They differ in 6.");
  });

  test("a server that does not know its token gets none, and the comparison fails", async () => {
    await using first = await startTestServer();
    await using second = await startTestServer({ server: { token: "u".repeat(43) } });
    await using scene = await cliScene({ "a.txt": "a\n" });
    const console = scene.console();
    console.environment["GENNAI_AUTH_TOKEN"] = first.token;
    console.input.end();
    const { runCommandLine } = await import("#command-line");
    expect(await runCommandLine(["doctor", "--compare", first.url, second.url], console)).toBe(1);
    expect(console.complained()).toContain(`${second.url} does not answer as a Gennai server that knows this token.`);
  });
});
