import { rotateLedgerKey } from "@gennai/store/audit/ledger-key-rotation";

// Hands the ledgers of a state directory over to new keys until it is killed, and prints each. Argument: state directory.
const [stateDir = ""] = process.argv.slice(2);
for (;;) {
  const { to } = await rotateLedgerKey({ stateDir, now: Date.now });
  process.stdout.write(`${to}\n`);
}
