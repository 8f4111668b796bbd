import { writeFile } from "node:fs/promises";
import { AcceptedChecks } from "@gennai/sessions/rules/workspace-answers";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { runCommandLine } from "#command-line";
import { testConsole } from "../../test-console.ts";

const sha256 = "a".repeat(64);

test("what was accepted is listed, and asks again after a revocation; another workspace's stays", async () => {
  await using state = await temporaryDirectory();
  await using workspace = await temporaryDirectory();
  await using other = await temporaryDirectory();
  const check = {
    command: "npm run typecheck",
    source: "package.json",
    actionSha256: sha256,
    callId: "c",
    rules: ["project-check/repository-command"],
  };
  await new AcceptedChecks(state.root, workspace.root).accept(check);
  await new AcceptedChecks(state.root, other.root).accept(check);
  const gennai = async (...args: readonly string[]): Promise<string> => {
    const console = testConsole(workspace.root, { ...process.env, GENNAI_STATE_DIR: state.root });
    expect(await runCommandLine(["check", ...args], console)).toBe(0);
    return console.printed();
  };
  expect(await gennai("list")).toMatch(
    /^npm run typecheck\n {2}from package\.json, accepted \d{4}-\d\d-\d\d .*aaaaaaaaaaaa…\n$/,
  );
  expect(JSON.parse(await gennai("list", "--json"))).toMatchObject({ accepted: [{ command: "npm run typecheck" }] });
  expect(await gennai("revoke")).toBe("asks again: npm run typecheck\n");
  expect(await gennai("list")).toContain("No check runs here without a question.");
  expect(await gennai("revoke")).toBe("Nothing was accepted here.\n");
  expect(await new AcceptedChecks(state.root, other.root).find(sha256)).toMatchObject(check);
});

test("a file that is not what was written accepts nothing, and can be written anew", async () => {
  await using state = await temporaryDirectory();
  await writeFile(state.path("accepted-checks.json"), '{"/w": [{"command": 1}]}', { mode: 0o600 });
  const checks = new AcceptedChecks(state.root, "/w");
  expect(await checks.list()).toEqual([]);
  const check = { command: "make lint", source: "x", actionSha256: sha256, rules: [], callId: "c" };
  await Promise.all([checks.accept(check), new AcceptedChecks(state.root, "/v").accept(check)]);
  expect(await checks.list()).toHaveLength(1);
  expect(await new AcceptedChecks(state.root, "/v").list()).toHaveLength(1);
});
