import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { repairWorkspaceLedger } from "@gennai/server/store/ledger-repair";
import { verifyWorkspaceLedger } from "@gennai/server/store/ledger-verify";
import { openStore } from "@gennai/server/store/store";
import { afterEach, beforeEach, expect, it } from "vitest";

const program = fileURLToPath(new URL("appending-process.ts", import.meta.url));

let directory: string;
let stateDir: string;
let workspaceRoot: string;
const running = new Set<ChildProcess>();

beforeEach(async () => {
  directory = await realpath(await mkdtemp(join(tmpdir(), "gennai-crash-")));
  stateDir = join(directory, "state");
  workspaceRoot = join(directory, "workspace");
  await mkdir(workspaceRoot);
});
afterEach(async () => {
  for (const child of running) child.kill("SIGKILL");
  await rm(directory, { recursive: true });
});

it("survives being killed at any moment", { timeout: 60_000 }, async () => {
  const rounds = 15;
  let promised = 0;
  for (let round = 0; round < rounds; round++) {
    const child = start("s", 0);
    const firstLine = child.output.next();
    const T=[performance.now()]; await firstLine; T.push(performance.now());
    await new Promise((resolve) => setTimeout(resolve, Math.random() * 120));
    child.process.kill("SIGKILL");
    await child.ended;
    const before = promised;
    T.push(performance.now()); promised = child.lastSeq();
    expect(promised).toBeGreaterThan(before);

    await using store = await openStore(stateDir, { onWarning: (text) => expect.unreachable(text) });
    const seqs: number[] = [];
    for (;;) {
      const page = await store.log.read("s", seqs.length, 1000);
      if (page.length === 0) break;
      seqs.push(...page.map((each) => each.seq));
    }
    expect(seqs).toEqual(seqs.map((_seq, index) => index + 1));
    // Committed but not yet told is possible, told but not committed is not; and a batch is whole.
    expect(seqs.length).toBeGreaterThanOrEqual(promised);
    expect(seqs.length % 2).toBe(0);
    expect(await store.log.head("s")).toMatchObject({ lastSeq: seqs.length });

    // As the crash left it: sound, behind, torn, or not there yet. Never anything else.
    T.push(performance.now());const left = await verifyWorkspaceLedger({ workspaceRoot, stateDir });
    expect(["ok", "behind_store", "torn_last_line", "missing_file"]).toContain(left.status);
    T.push(performance.now()); if (round % 2 === 0) await repairWorkspaceLedger({ workspaceRoot, stateDir });
    else {
      await store.log.takeOver("s");
      await store.flushLedgers();
    }
    expect(await verifyWorkspaceLedger({ workspaceRoot, stateDir })).toMatchObject({
      status: "ok",
      records: seqs.length,
    });
  }
});

it("lets several processes append to one workspace's ledger without forking it", { timeout: 60_000 }, async () => {
  const children = ["a", "b", "c"].map((sessionId) => start(sessionId, 150));
  for (const child of children) expect(await child.ended).toBe(0);
  for (const child of children) expect(child.errors()).toBe("");
  expect(await verifyWorkspaceLedger({ workspaceRoot, stateDir })).toMatchObject({
    status: "ok",
    records: 900,
    compared: { head: true, store: true },
  });
});

it("lets the second owner of a session stop the first", { timeout: 60_000 }, async () => {
  const first = start("s", 0);
  await first.output.next();
  const second = start("s", 20);
  expect(await second.ended).toBe(0);
  expect(await first.ended).not.toBe(0);
  expect(first.errors()).toContain("AppendConflict");
});

function start(sessionId: string, limit: number) {
  const child = spawn(process.execPath, [program, stateDir, workspaceRoot, sessionId, String(limit)], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  running.add(child);
  let text = "";
  let errors = "";
  child.stdout.on("data", (chunk) => (text += chunk));
  child.stderr.on("data", (chunk) => (errors += chunk));
  const ended = once(child, "close").then(() => {
    running.delete(child);
    return child.exitCode;
  });
  return {
    process: child,
    output: { next: () => Promise.race([once(child.stdout, "data"), ended]) },
    ended,
    errors: () => errors,
    /** The last whole line. */
    lastSeq: () => Number(text.split("\n").at(-2) ?? 0),
  };
}
