import { LedgerExport } from "#export/ledger-export";

/** A process that exports until it is killed. @see ledger-export.test.ts */
const [stateDir = "", url = ""] = process.argv.slice(2);
const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: console.error };
await using _export = new LedgerExport(async () => [{ name: "siem", to: "webhook", endpoint: url }], {
  stateDir,
  version: "0.2.0",
  log,
  waits: { look: 5, first: 5, longest: 20 },
});
await new Promise(() => setInterval(() => undefined, 1_000_000));
