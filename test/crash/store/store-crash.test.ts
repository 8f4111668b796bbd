import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { verifyWorkspaceLedger } from "@gennai/store/audit/ledger-verify";
import { builtProgram } from "@gennai/testkit/built-program";
import { afterEach, beforeEach, expect, it } from "vitest";
import { crashOptions } from "../crash-options.ts";
import { keyRounds, storeRounds } from "./store-rounds.ts";

const program = builtProgram(new URL("appending-process.ts", import.meta.url));

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

const short = crashOptions(6);
it("survives being killed at any moment", () => storeRounds(short));
const shorter = crashOptions(3);
it("survives being killed while its ledger is handed over from key to key", () => keyRounds(shorter));

it("lets several processes append to one workspace's ledger without forking it", async () => {
  const children = ["a", "b", "c"].map((sessionId) => start(sessionId, 50));
  for (const child of children) expect(await child.ended).toBe(0);
  for (const child of children) expect(child.errors()).toBe("");
  expect(await verifyWorkspaceLedger({ workspaceRoot, stateDir })).toMatchObject({
    status: "ok",
    records: 300,
    compared: { head: true, store: true },
  });
});

it("lets the second owner of a session stop the first", async () => {
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
