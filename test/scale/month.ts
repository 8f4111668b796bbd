import { readdirSync, readFileSync } from "node:fs";
import { verifyWorkspaceLedger } from "@gennai/store/audit/ledger-verify";
import { freeStorage } from "@gennai/store/purge/free-storage";
import { bytesOf, measureStorage, type StorageUse } from "@gennai/store/purge/storage-use";
import { bash, call } from "@gennai/testkit/scripted-steps";
import { type ServedGennai, serveGennai, serverPid } from "../e2e/process/serve-gennai.ts";

/** What a server holds. */
interface Held {
  /** Resident, MiB. */
  readonly memory: number;
  readonly descriptors: number;
  /** Processes that it started and that run. */
  readonly children: number;
}

export interface Month {
  readonly turns: number;
  /** After a third of the sessions, and after all. */
  readonly early: Held;
  readonly late: Held;
  /** Milliseconds that a start takes. */
  readonly firstStart: number;
  readonly lastStart: number;
  /** Bytes by part: when all was done, after a fortnight, and when that was pruned. */
  readonly after: StorageUse["parts"];
  readonly pruned: StorageUse["parts"];
  readonly ledger: string;
  /** Whether the last change of the month could be taken back after pruning. */
  readonly undone: boolean;
}

const fortnight = 15 * 24 * 60 * 60_000;

function edit(old_string: string, new_string: string) {
  return call("Edit", { file_path: "a.txt", old_string, new_string });
}

/** A session reads, edits, builds what git ignores, and changes a file by a command. */
const script = [
  { match: "^read", steps: [call("Read", { file_path: "a.txt" }), { text: ["Read."] }] },
  { match: "^add", steps: [call("Read", { file_path: "a.txt" }), edit("a\n", "a\nb\n"), { text: ["Added."] }] },
  { match: "^remove", steps: [call("Read", { file_path: "a.txt" }), edit("a\nb\n", "a\n"), { text: ["Removed."] }] },
  {
    match: "^build",
    steps: [bash("mkdir -p dist && head -c 2000000 /dev/urandom > dist/bundle.js && ls dist"), { text: ["Built."] }],
  },
  { match: "^test", steps: [bash("git status --short && wc -c dist/bundle.js a.txt"), { text: ["Tested."] }] },
];

/** Works for as many sessions, one after the other, and prunes what is left two weeks later. */
export async function workForAMonth(sessions: number, turnsEach: number): Promise<Month> {
  const began = performance.now();
  await using server = await serveGennai({
    files: { ".gitignore": "dist\n", "a.txt": "a\n" },
    script,
    args: ["--commands", "staged"],
  });
  const firstStart = performance.now() - began;
  let early: Held | undefined;
  let last = "";
  for (let session = 1; session <= sessions; session += 1) {
    last = await work(server, turnsEach);
    if (session === Math.ceil(sessions / 3)) early = held(await serverPid(server.stateDirectory));
  }
  const late = held(await serverPid(server.stateDirectory));
  const restarting = performance.now();
  await server.restart();
  const lastStart = performance.now() - restarting;
  const now = Date.now();
  const after = await measureStorage(server.stateDirectory, { now });
  const freed = await freeStorage(server.stateDirectory, { mostBytes: bytesOf(after), now: now + fortnight });
  const report = await verifyWorkspaceLedger({
    workspaceRoot: server.workspace.root,
    stateDir: server.stateDirectory,
  });
  const undone = await server.client.undoChangeSet({ sessionId: last });
  return {
    turns: sessions * turnsEach,
    early: early ?? late,
    late,
    firstStart: Math.round(firstStart),
    lastStart: Math.round(lastStart),
    after: after.parts,
    pruned: (freed?.after ?? after).parts,
    ledger: report.status,
    undone: undone.files.length > 0,
  };
}

const prompts = ["read", "add", "build", "test", "remove"];

async function work({ client }: ServedGennai, turns: number): Promise<string> {
  const { sessionId } = await client.startSession({ interactive: false });
  for (let turn = 0; turn < turns; turn += 1) {
    const userInput = `${prompts[turn % prompts.length]} ${turn}`;
    for await (const { event } of client.invoke({ sessionId, userInput })) {
      if (event.case === "toolResult" && event.value.error !== "") throw new Error(event.value.error);
    }
  }
  return sessionId;
}

function held(process: number): Held {
  const status = readFileSync(`/proc/${process}/status`, "utf8");
  const children = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && parentOf(name) === process);
  return {
    memory: Math.round(Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024),
    descriptors: readdirSync(`/proc/${process}/fd`).length,
    children: children.length,
  };
}

function parentOf(process: string): number {
  try {
    return Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${process}/status`, "utf8"))?.[1]);
  } catch {
    return 0;
  }
}
