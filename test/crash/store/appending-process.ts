import { openStore } from "@gennai/store/sqlite/store";
import { plainEntry } from "../../../packages/governance/test/ledger/plain-entry.ts";

// Appends durable batches with ledger records until it is killed (or `limit` is reached) and prints each seq that was
// promised to be on disk. Arguments: state directory, workspace, session, limit.
const [stateDir = "", workspaceRoot = "", sessionId = "", limit = "0"] = process.argv.slice(2);
const store = await openStore(stateDir, { onWarning: (text) => process.stderr.write(`${text}\n`) });
const time = Date.now();
if ((await store.log.head(sessionId)) === undefined) await store.log.create({ sessionId, workspaceRoot, time });
const epoch = await store.log.takeOver(sessionId);
let seq = (await store.log.head(sessionId))?.lastSeq ?? 0;

for (let count = 0; limit === "0" || count < Number(limit); count++) {
  const turnId = `turn-${seq}`;
  const event = { type: "text-delta" as const, text: `${seq} ${"x".repeat(count % 500)}` };
  const draft = { turnId, itemId: "", time, event };
  const entry = plainEntry({ kind: "intent" as const, time, sessionId, turnId, modelId: "offline" });
  const logged = await store.log.append(
    sessionId,
    { events: [draft, draft], ledger: [entry, { ...entry, kind: "outcome" }], durable: true },
    { seq, epoch },
  );
  seq = logged.at(-1)?.seq ?? seq;
  process.stdout.write(`${seq}\n`);
  // Lets the mirror's timer and the pipe have their turn, and keeps the ledger short enough to be verified often.
  await new Promise((resolve) => setTimeout(resolve, 1));
}
await store[Symbol.asyncDispose]();
