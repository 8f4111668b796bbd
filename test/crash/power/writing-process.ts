import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { randomNumbers } from "../crash-options.ts";
import { CarelessDisk } from "./careless-disk.ts";

// Writes to a store on a careless disk, and now and then leaves what a power cut would leave, with what was promised by then, in
// `cuts/N`. Arguments: root of the disk, directory of the cuts, rounds, seed.
const [root = "", cuts = "", rounds = "0", seed = "1"] = process.argv.slice(2);
const disk = await CarelessDisk.watch(root);
const { openStore } = await import("@gennai/store/sqlite/store");

const next = randomNumbers(Number(seed));
const random = (count: number): number => Math.floor(next() * count);

const stateDir = join(root, "state");
const workspaceRoot = join(root, "workspace");
mkdirSync(workspaceRoot, { recursive: true });
const database = join(stateDir, "gennai.db");
const warnings: string[] = [];
const store = await openStore(stateDir, { onWarning: (text) => void warnings.push(text) });
await store.log.create({ sessionId: "s", workspaceRoot, time: 1 });
// It synced both as it made a durable transaction; it moves nothing from the one to the other in so few rounds.
disk.synced(database, `${database}-wal`);

let seq = 0;
const promised = { seq: 0, blobs: [] as string[], loose: [] as string[] };
for (let round = 0; round < Number(rounds); round += 1) {
  switch (random(6)) {
    case 0: {
      const durable = random(2) === 0;
      const { sha256 } = await store.blobs.put(Buffer.from(`content ${random(12)}`), "text/plain", { durable });
      (durable ? promised.blobs : promised.loose).push(sha256);
      break;
    }
    case 1:
      await store.flushLedgers();
      break;
    case 2:
      // The head and the mark are written by timers.
      await new Promise((resolve) => setTimeout(resolve, random(250)));
      break;
    case 3: {
      const directory = join(cuts, String(round));
      disk.cut(join(directory, "disk"), random(2) === 0 ? "synced" : "now");
      writeFileSync(join(directory, "promised.json"), JSON.stringify(promised));
      break;
    }
    default: {
      const durable = random(3) === 0;
      const event = { type: "text-delta" as const, text: randomBytes(random(200)).toString("hex") };
      const place = {
        sessionId: "s",
        turnId: "t",
        time: 1,
        modelId: "m",
        revision: "",
        calls: [],
        files: [],
        details: {},
      };
      const ledger = random(2) === 0 ? [] : [{ kind: "outcome" as const, ...place }];
      const draft = { turnId: "t", itemId: "", time: 1, event };
      const logged = await store.log.append("s", { events: [draft], ledger, durable }, { seq, epoch: 1 });
      seq = logged.at(-1)?.seq ?? seq;
      if (durable) promised.seq = seq;
    }
  }
}
if (warnings.length > 0) throw new Error(warnings.join("\n"));
// Without closing the store: that would bring all to the disk.
process.exit(0);
