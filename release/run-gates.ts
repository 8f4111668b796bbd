import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Gate, type GateResult, runGate } from "./gates/gate.ts";
import { ReleaseError } from "./release-error.ts";
import { publishRecord, type ReleaseRecord, releaseRecord } from "./release-record.ts";
import type { SigningKey } from "./signing-key.ts";
import { sourceState } from "./source-state.ts";
import { verifyRelease } from "./verify.mjs";

export interface GatesOptions {
  /** Of the checkout that the release was made from. */
  readonly root: string;
  /** Of the release. */
  readonly directory: string;
  readonly key: SigningKey;
  readonly gates: readonly Gate[];
  /** Takes a line of what goes on. */
  readonly print: (line: string) => void;
  /** Stops the gate that runs, and begins no other. */
  readonly signal: AbortSignal;
}

/**
 * Runs gates over a release, one after the other, and signs the record of it, whatever came out. What each gate wrote lies in
 * `DIRECTORY.gates`. Rejects with `ReleaseError` when there is no release of this key.
 */
export async function runGates({ root, directory, key, gates, print, signal }: GatesOptions): Promise<ReleaseRecord> {
  const { problems } = verifyRelease({ directory, publicKey: key.publicPem, gates: false });
  if (problems.length > 0)
    throw new ReleaseError(`${directory} is not a release of key ${key.keyId}: ${problems.join(" ")}`);
  const source = sourceState(root);
  const outputs = `${directory}.gates`;
  mkdirSync(outputs, { recursive: true });
  const results: GateResult[] = [];
  for (const gate of gates) {
    if (signal.aborted) break;
    print(`${gate.name}: ${gate.title}`);
    const scratch = mkdtempSync(join(tmpdir(), "gennai-gate-"));
    try {
      const context = { root, directory, version: source.version, publicKey: key.publicPem, scratch };
      const { result, output } = await runGate(gate, context, { print, signal });
      writeFileSync(join(outputs, `${gate.name}.log`), output);
      for (const line of result.evidence) print(`    ${line}`);
      const seconds = (Date.parse(result.ended) - Date.parse(result.began)) / 1000;
      print(`  ${result.result === "passed" ? "passed" : `FAILED: ${result.reason}`} (${seconds.toFixed(1)} s)`);
      results.push(result);
    } finally {
      rmSync(scratch, { recursive: true, force: true, maxRetries: 3 });
    }
  }
  const record = releaseRecord(root, source, results);
  publishRecord(directory, record, key);
  const { problems: against } = verifyRelease({ directory, publicKey: key.publicPem, version: source.version });
  for (const problem of against) print(`REFUSED: ${problem}`);
  print(against.length === 0 ? `Release ${source.version} may be published.` : "This is not a release.");
  return record;
}
