import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { AcceptedChecks, AcceptedConnections } from "@gennai/sessions/rules/workspace-answers";
import { WorkspaceLedger } from "@gennai/store/audit/workspace-ledger";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { runCommandLine } from "#command-line";
import { testConsole } from "../../test-console.ts";

const check = {
  command: "npm run lint",
  source: "package.json",
  actionSha256: "a".repeat(64),
  callId: "c",
  rules: ["project-check/repository-command"],
};

async function place() {
  const state = await temporaryDirectory();
  const workspace = await temporaryDirectory();
  const gennai = async (code: number, ...args: readonly string[]): Promise<string> => {
    const console = testConsole(workspace.root, { ...process.env, GENNAI_STATE_DIR: state.root });
    expect(await runCommandLine(["answers", ...args], console)).toBe(code);
    return console.printed();
  };
  const close = async () => {
    await state[Symbol.asyncDispose]();
    await workspace[Symbol.asyncDispose]();
  };
  return { state, workspace, gennai, [Symbol.asyncDispose]: close };
}

test("answers of every kind stand in one list, and each is taken back by itself", async () => {
  await using here = await place();
  const { state, workspace, gennai } = here;
  await new AcceptedChecks(state.root, workspace.root).accept(check);
  const connections = new AcceptedConnections(state.root, workspace.root);
  await connections.remember("npm install", [{ host: "registry.example", port: 443, callId: "c" }]);
  await connections.remember("psql", [{ host: "db.intern", port: 5432, address: "10.1.2.3", callId: "c" }]);
  const list = await gennai(0, "list");
  expect(list).toContain("the check npm run lint (package.json) runs");
  expect(list).toContain("npm install reaches registry.example:443");
  expect(list).toContain("psql reaches db.intern:5432 at 10.1.2.3");
  const [, id = ""] = /^([0-9a-f]{12}) {2}npm install/m.exec(list) ?? [];
  expect(await gennai(0, "revoke", id)).toBe("asks again: npm install reaches registry.example:443\n");
  expect(await connections.find("npm install")).toEqual([]);
  expect(await connections.find("psql")).toHaveLength(1);
  expect(await gennai(0, "revoke", "--all")).toContain("asks again: the check npm run lint");
  expect(await gennai(0, "list")).toBe("There are no lasting answers here: every question is asked again.\n");
  expect(await new AcceptedChecks(state.root, workspace.root).list()).toEqual([]);
});

test("logins that commands used stand behind the answers, as the ledger says", async () => {
  await using here = await place();
  const { file } = new WorkspaceLedger({ stateDir: here.state.root, workspaceRoot: here.workspace.root });
  const login = "the login of ~/.npmrc for npm.example";
  const line = (day: string, ...connections: readonly object[]): string =>
    JSON.stringify({ timestamp: `2026-11-${day}T10:00:00Z`, metadata: { calls: [{ connections }] } });
  const used = { host: "npm.example", port: 443, state: "allowed", login, count: 2 };
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(
    file,
    [
      line("28", used, { ...used, state: "refused" }),
      "no record",
      line("29", used, { ...used, login: undefined }),
    ].join("\n"),
  );
  expect(await here.gennai(0, "list")).toBe(
    `There are no lasting answers here: every question is asked again.\nused: ${login} at npm.example:443, 4 times, last on 2026-11-29\n`,
  );
});

test("what is not named is not taken back", async () => {
  await using here = await place();
  await new AcceptedChecks(here.state.root, here.workspace.root).accept(check);
  await here.gennai(2, "revoke");
  await here.gennai(2, "revoke", "0".repeat(12));
  await here.gennai(2, "revoke", "0".repeat(12), "--all");
  expect(await here.gennai(0, "list")).toContain("npm run lint");
});

test("a connection is allowed ahead for a program whose verb says what it does, and for no other", async () => {
  await using here = await place();
  const { state, workspace, gennai } = here;
  const connections = new AcceptedConnections(state.root, workspace.root);
  await gennai(0, "allow", "npm i", "registry.npmjs.org:443", "[2001:db8::1]:8443");
  expect(await connections.find("npm install")).toMatchObject([
    { host: "registry.npmjs.org", port: 443 },
    { host: "2001:db8::1", port: 8443 },
  ]);
  for (const program of [
    ...["npm test", "npm run fetch", "node x.js", "python3", "sh x.sh", "npx tsc", "npm install && sh x"],
  ]) {
    await gennai(2, "allow", program, "registry.npmjs.org:443");
  }
  for (const host of ["registry.npmjs.org", "*:443", "http://a:80", "0x7f.1:80", "a b:80", "a:0", "a:65536"]) {
    await gennai(2, "allow", "npm install", host);
  }
  expect(await connections.list()).toHaveLength(2);
});
