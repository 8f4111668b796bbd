import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { repairWorkspaceLedger } from "@gennai/store/audit/ledger-repair";
import { verifyWorkspaceLedger } from "@gennai/store/audit/ledger-verify";
import { usualLedgerPath } from "@gennai/store/ledger/file/ledger-file-name";
import { openStore } from "@gennai/store/sqlite/store";
import { builtProgram } from "@gennai/testkit/built-program";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { type CrashOptions, randomNumbers } from "../crash-options.ts";
import { killProcess } from "../kill-process.ts";

const program = builtProgram(new URL("appending-process.ts", import.meta.url));
const rotator = builtProgram(new URL("rotating-process.ts", import.meta.url));
/** After so many, a store of its own begins: what is checked after each kill grows with it. */
const roundsOfOneStore = 20;

/**
 * Kills a process that appends events and ledger records. After each kill: everything promised is there, seqs have no gap, a
 * batch is whole, and the ledger is sound, or what a crash may make of it, and can be mended.
 */
export async function storeRounds(options: CrashOptions): Promise<void> {
  await roundsOf(options, appendUntilKilled);
}

/** The same, while another process hands the ledger over from key to key, and is killed as well. */
export async function keyRounds(options: CrashOptions): Promise<void> {
  await roundsOf(options, async (place, wait) => {
    // A ledger must be there before it can be handed over.
    if ((await appendUntilKilled(place, 0)) === 0) return 0;
    const child = spawn(process.execPath, [rotator, place.stateDir], { stdio: ["ignore", "pipe", "inherit"] });
    // The key of its first hand-over: it is killed in one of the next.
    const handedOver = Promise.race([
      once(child.stdout, "data"),
      once(child, "close").then(() => assert.fail("No ledger was handed over.")),
    ]);
    const [promised] = await Promise.all([
      appendUntilKilled(place, wait),
      handedOver.then(() => delay(wait)).then(() => killProcess(child)),
    ]);
    place.handedOver += 1;
    return promised;
  });
}

async function roundsOf(
  { rounds, seed, onRound }: CrashOptions,
  work: (place: StorePlace, wait: number) => Promise<number>,
): Promise<void> {
  const random = randomNumbers(seed);
  for (let first = 0; first < rounds; first += roundsOfOneStore) {
    await using directory = await temporaryDirectory({ "workspace/README.md": "" });
    const place = { stateDir: directory.path("state"), workspaceRoot: directory.path("workspace"), handedOver: 0 };
    let promised = 0;
    for (let round = first; round < Math.min(rounds, first + roundsOfOneStore); round += 1) {
      const seen = await work(place, random() * 120);
      assert.ok(seen > promised, `round ${round}: nothing was appended`);
      promised = seen;
      onRound?.(round, await checkStore(place, { promised, rebuild: random() < 0.5 }));
    }
  }
}

interface StorePlace {
  readonly stateDir: string;
  readonly workspaceRoot: string;
  /** How often at least the ledger was handed over to a new key. */
  handedOver: number;
}

/** The last seq that it said is on disk. */
async function appendUntilKilled({ stateDir, workspaceRoot }: StorePlace, wait: number): Promise<number> {
  const child = spawn(process.execPath, [program, stateDir, workspaceRoot, "s", "0"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.on("data", (chunk) => (text += chunk));
  const closed = once(child, "close");
  await Promise.race([once(child.stdout, "data"), closed]);
  await delay(wait);
  await killProcess(child);
  await closed;
  // The last whole line.
  return Number(text.split("\n").at(-2) ?? 0);
}

async function checkStore(
  { stateDir, workspaceRoot, handedOver }: StorePlace,
  { promised, rebuild }: { readonly promised: number; readonly rebuild: boolean },
): Promise<string> {
  // As the crash left it: sound, behind, torn, or not there yet. Never anything else.
  const left = await verifyWorkspaceLedger({ workspaceRoot, stateDir });
  assert.ok(["ok", "behind_store", "torn_last_line", "missing_file"].includes(left.status), left.message);
  const warnings: string[] = [];
  await using store = await openStore(stateDir, { onWarning: (text) => warnings.push(text) });
  const seqs: number[] = [];
  for (;;) {
    const page = await store.log.read("s", seqs.length, 1000);
    if (page.length === 0) break;
    seqs.push(...page.map((each) => each.seq));
  }
  assert.deepEqual(
    seqs,
    seqs.map((_seq, index) => index + 1),
  );
  // Committed but not yet told is possible, told but not committed is not; and a batch is whole.
  assert.ok(seqs.length >= promised, `${promised} were promised, ${seqs.length} are there`);
  assert.equal(seqs.length % 2, 0);
  assert.equal((await store.log.head("s"))?.lastSeq, seqs.length);

  if (rebuild) await repairWorkspaceLedger({ workspaceRoot, stateDir });
  else {
    await store.log.takeOver("s");
    await store.flushLedgers();
  }
  const { status, message, records } = await verifyWorkspaceLedger({ workspaceRoot, stateDir });
  assert.equal(status, "ok", message);
  const text = await readFile(usualLedgerPath(workspaceRoot), "utf8");
  const handOvers = text.split('"kind":"key"').length - 1;
  assert.equal(records - handOvers, seqs.length);
  assert.ok(handOvers >= handedOver, `${handedOver} hand-overs were told, ${handOvers} are there`);
  assert.deepEqual(warnings, []);
  return `ledger ${left.status}`;
}
