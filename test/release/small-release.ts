import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { GateResult } from "../../release/gates/gate.ts";
import { publish } from "../../release/make-release.ts";
import { provenance } from "../../release/release-provenance.ts";
import { published, publishRecord, type ReleaseRecord, releaseRecord } from "../../release/release-record.ts";
import { makeSigningKey, type SigningKey, type Statement } from "../../release/signing-key.ts";
import { attestationsFile } from "../../release/verify.mjs";

export const root = fileURLToPath(new URL("../..", import.meta.url));

/** Every gate that a release must pass, as verify.mjs knows them. */
export const gateNames = [
  ...["never-do", "plan-validation", "tool-boundary", "signature", "smoke", "smoke-vscode"],
  ...["audit-parity", "upgrade", "reproducible", "whole-run"],
];

/** A release of small files, whole and signed. */
export interface SmallRelease extends Disposable {
  readonly directory: string;
  readonly key: SigningKey;
  /** A key that did not sign it. */
  readonly otherKey: SigningKey;
  /** Of the public keys. */
  readonly keyFile: string;
  readonly otherKeyFile: string;
  /** Writes and signs a record that says these things instead. */
  record(changes: Partial<ReleaseRecord>, key?: SigningKey): void;
  /** Signs another provenance in the place of the first statement, and leaves the record. */
  provenance(change: (statement: Statement) => Statement, key?: SigningKey): void;
}

export async function smallRelease(): Promise<SmallRelease> {
  const scratch = mkdtempSync(join(tmpdir(), "gennai-release-test-"));
  const [directory, keys, otherKeys] = ["release", "keys", "other"].map((name) => join(scratch, name)) as [
    string,
    string,
    string,
  ];
  const [key, otherKey] = [await makeSigningKey(keys), await makeSigningKey(otherKeys)];
  const artefacts = new Map(["gennai-1.2.3.tgz", "gennai-vscode-1.2.3.vsix"].map((name) => [name, Buffer.from(name)]));
  const source = { version: "1.2.3", commit: "c".repeat(40), clean: true, time: 0 };
  publish(directory, artefacts, { root, source, key });
  const whole = releaseRecord(root, source, gateNames.map(passed));
  publishRecord(directory, whole, key);
  return {
    directory,
    key,
    otherKey,
    keyFile: join(keys, "release.ed25519.pub"),
    otherKeyFile: join(otherKeys, "release.ed25519.pub"),
    record(changes, by = key) {
      publishRecord(directory, { ...whole, ...changes }, by);
    },
    provenance(change, by = key) {
      const file = join(directory, attestationsFile);
      const [, record = ""] = readFileSync(file, "utf8").split("\n");
      const { subject } = published(directory);
      writeFileSync(file, `${by.attest(change(provenance(root, source, subject)))}${record}\n`);
    },
    [Symbol.dispose]() {
      rmSync(scratch, { recursive: true, force: true });
    },
  };
}

export function passed(name: string): GateResult {
  const time = "2026-01-01T00:00:00.000Z";
  return {
    name,
    title: name,
    result: "passed",
    reason: "",
    counts: { passed: 1, failed: 0, skipped: 0 },
    evidence: ["seen"],
    output_sha256: "0".repeat(64),
    began: time,
    ended: time,
  };
}
