import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { verifyWorkspaceLedger } from "@gennai/store/audit/ledger-verify";
import { openStore } from "@gennai/store/sqlite/store";
import { expect, test } from "vitest";

const program = fileURLToPath(new URL("writing-process.ts", import.meta.url));

interface Promised {
  readonly seq: number;
  readonly blobs: readonly string[];
  readonly loose: readonly string[];
}

test.runIf(process.platform === "linux").each([1, 2])(
  "a power cut takes nothing that was promised to be durable, and no store looks older than what was signed (seed %i)",
  async (seed) => {
    const directory = realpathSync(mkdtempSync(join(tmpdir(), "gennai-power-")));
    try {
      const [root, cuts] = [join(directory, "disk"), join(directory, "cuts")];
      for (const path of [root, cuts]) mkdirSync(path);
      await promisify(execFile)(process.execPath, [program, root, cuts, "120", String(seed)]);
      const lost: number[] = [];
      for (const round of readdirSync(cuts)) {
        rmSync(root, { recursive: true });
        cpSync(join(cuts, round, "disk"), root, { recursive: true });
        const promised = JSON.parse(readFileSync(join(cuts, round, "promised.json"), "utf8")) as Promised;
        lost.push(await checkAfterCut(root, promised));
      }
      // Else nothing was tested.
      expect(lost.length).toBeGreaterThan(5);
      expect(lost.filter((count) => count > 0)).not.toEqual([]);
    } finally {
      rmSync(directory, { recursive: true });
    }
  },
);

/** How many contents that were put loosely are gone or damaged. */
async function checkAfterCut(root: string, promised: Promised): Promise<number> {
  const stateDir = join(root, "state");
  const workspaceRoot = join(root, "workspace");
  const warnings: string[] = [];
  {
    await using store = await openStore(stateDir, { onWarning: (text) => void warnings.push(text) });
    expect({ isForward: store.isForward, warnings }).toEqual({ isForward: true, warnings: [] });
    const events = await store.log.read("s", 0, 10_000);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(events.length).toBeGreaterThanOrEqual(promised.seq);
    for (const sha256 of promised.blobs) expect(await store.blobs.get(sha256)).toBeDefined();
    const loose = await Promise.all(promised.loose.map((sha256) => store.blobs.get(sha256).catch(() => undefined)));
    // Work goes on.
    const event = { type: "text-delta" as const, text: "after the cut" };
    const entry = { kind: "outcome" as const, sessionId: "s", turnId: "t", time: 1, modelId: "m", revision: "" };
    await store.log.append(
      "s",
      {
        events: [{ turnId: "t", itemId: "", time: 1, event }],
        ledger: [{ ...entry, calls: [], files: [], details: {} }],
        durable: true,
      },
      { seq: events.length, epoch: 1 },
    );
    await store.flushLedgers();
    expect(await verifyWorkspaceLedger({ workspaceRoot, stateDir })).toMatchObject({ status: "ok" });
    return loose.filter((bytes) => bytes === undefined).length;
  }
}
