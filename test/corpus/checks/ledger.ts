import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import type { LedgerEntry } from "@gennai/governance/ledger/ledger-entry";
import { verifyWorkspaceLedger, type WorkspaceLedgerReport } from "@gennai/store/audit/ledger-verify";
import { entryOf, StoreFixture } from "../../../packages/store/test/sqlite/store-fixture.ts";
import { type Checks, check, notApplicable } from "../corpus-case.ts";
import { sharedFixture } from "../shared-fixtures.ts";
import { callTool } from "../tool-call.ts";

function verified(fixture: StoreFixture): Promise<WorkspaceLedgerReport> {
  return verifyWorkspaceLedger({ workspaceRoot: fixture.root, stateDir: fixture.stateDir });
}

/** A record with such an entry can be kept, and verified. */
async function keeps(more: Partial<LedgerEntry>): Promise<string> {
  await using fixture = await StoreFixture.create();
  {
    await using store = await fixture.open();
    await store.log.append(
      "s",
      { events: [], ledger: [{ ...entryOf(1), ...more }], durable: true },
      { seq: 0, epoch: 1 },
    );
  }
  assert.equal((await verified(fixture)).status, "ok");
  return await readFile(fixture.mirror, "utf8");
}

export const ledgerChecks: Checks = {
  "LED-028": notApplicable(
    "There is no network file system here; the authority lies in the state directory, not in the workspace.",
  ),
  "LED-029": notApplicable(
    "A full disk is one of the faults of the crash tests; a record that cannot be kept stops the call.",
  ),
  "LED-036": check(async () => {
    for (const time of [0, Date.UTC(2106, 1, 7)]) await keeps({ time });
  }),
  "LED-050": check(async () => {
    const fixture = await sharedFixture("apart");
    const ledger = ".orchestration/agent_trace.jsonl";
    for (const command of [
      `echo x >> ${ledger}`,
      `python3 -c "open('${ledger}','a').write('x')"`,
      `vim -c ':wq' ${ledger}`,
      `git checkout -- ${ledger}`,
      `mv ${ledger} x`,
      "mount --bind /tmp .orchestration",
      `sed -i 1d ${ledger}`,
      `cp /dev/null ${ledger}`,
      `truncate -s 0 ${ledger}`,
      "rm -rf .orchestration",
      "cd .orchestration && echo x > agent_trace.jsonl",
    ])
      assert.equal((await fixture.decide(command)).verdict, "deny", command);
    assert.notEqual((await callTool("Write", { file_path: ledger, content: "x" })).code, "ok");
  }),
};
