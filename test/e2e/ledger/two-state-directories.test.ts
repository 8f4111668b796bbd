import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { repairWorkspaceLedger } from "@gennai/store/audit/ledger-repair";
import { verifyWorkspaceLedger } from "@gennai/store/audit/ledger-verify";
import { usualLedgerPath } from "@gennai/store/ledger/file/ledger-file-name";
import { stateChecks } from "@gennai/store/state-checks";
import { temporaryDirectory, temporaryRepository } from "@gennai/testkit/temporary-repository";
import { startTestServer } from "@gennai/testkit/test-server";
import { expect, test } from "vitest";
import { endState, runTurn, startSession } from "../rpc/session-client.ts";

/** A server over this state directory, one turn that changes a file, and its end. Gives what the server warned of. */
async function turnOf(stateDir: string, workspaceRoot: string): Promise<readonly string[]> {
  await using server = await startTestServer({ server: { stateDir, workspace: workspaceRoot } });
  const sessionId = await startSession(server);
  expect(endState(await runTurn(server, sessionId, "append 'x' to a.txt"))).toBe("COMPLETED");
  await server.running[Symbol.asyncDispose]();
  return server.warnings.filter((text) => text.includes("ledger"));
}

async function bytesIn(directory: string): Promise<number> {
  const names = await readdir(directory).catch(() => []);
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(directory, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

async function ledgerLines(workspaceRoot: string): Promise<ReadonlySet<string>> {
  const directory = join(workspaceRoot, ".orchestration");
  const names = (await readdir(directory)).filter((name) => name.endsWith(".jsonl"));
  const texts = await Promise.all(names.map((name) => readFile(join(directory, name), "utf8")));
  return new Set(texts.flatMap((text) => text.split("\n")));
}

test("two state directories that take turns on one workspace: a whole ledger for each, and it is said once", async () => {
  await using workspace = await temporaryRepository({ "a.txt": "a\n" });
  await workspace.git("checkout", "--quiet", "-b", "work");
  await using one = await temporaryDirectory();
  await using other = await temporaryDirectory();
  const states = [one.root, other.root];
  const said: string[] = [];
  let before: ReadonlySet<string> = new Set();
  for (let start = 0; start < 10; start++) {
    const stateDir = states[start % 2] ?? "";
    said.push(...(await turnOf(stateDir, workspace.root)));
    const now = await ledgerLines(workspace.root);
    expect(now.size).toBeGreaterThan(before.size);
    expect([...before].filter((line) => !now.has(line))).toEqual([]);
    before = now;
  }
  expect(said).toEqual([expect.stringContaining("is the ledger of another state directory and stays as it is")]);
  const reports = await Promise.all(
    states.map((stateDir) => verifyWorkspaceLedger({ workspaceRoot: workspace.root, stateDir })),
  );
  expect(reports).toMatchObject([
    { status: "ok", file: usualLedgerPath(workspace.root), ofOthers: undefined, compared: { head: true, store: true } },
    { status: "ok", ofOthers: usualLedgerPath(workspace.root), compared: { head: true, store: true } },
  ]);
  expect(await Promise.all(states.map((stateDir) => bytesIn(join(stateDir, "recovered"))))).toEqual([0, 0]);
  expect(await workspace.git("status", "--short")).toBe(" M a.txt");
  const [check] = stateChecks({ stateDir: other.root, workspace: workspace.root, configDir: other.root }).filter(
    ({ name }) => name === "ledger",
  );
  expect(check && (await check.run(new AbortController().signal))).toMatchObject([
    { state: "ok" },
    { state: "warn", text: expect.stringContaining("another state directory") },
  ]);
});

test("the other one's file is gone over by no repair, and by no purge", async () => {
  await using workspace = await temporaryRepository({ "a.txt": "a\n" });
  await workspace.git("checkout", "--quiet", "-b", "work");
  await using one = await temporaryDirectory();
  await using other = await temporaryDirectory();
  await turnOf(one.root, workspace.root);
  const usual = await readFile(usualLedgerPath(workspace.root), "utf8");
  await turnOf(other.root, workspace.root);
  const place = { workspaceRoot: workspace.root, stateDir: other.root };
  const { file } = await verifyWorkspaceLedger(place);
  const own = await readFile(file, "utf8");
  expect(own).not.toContain(usual.split("\n")[0]);
  await writeFile(file, "garbage\n");
  expect(await repairWorkspaceLedger(place)).toMatchObject({
    action: "rebuilt_from_store",
    report: { status: "ok", file },
  });
  expect(await readFile(file, "utf8")).toBe(own);
  expect(await readFile(usualLedgerPath(workspace.root), "utf8")).toBe(usual);
});
