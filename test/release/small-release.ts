import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { GateResult } from "../../release/gates/gate.ts";
import { publish } from "../../release/make-release.ts";
import { publishRecord, type ReleaseRecord, releaseRecord } from "../../release/release-record.ts";
import { makeSigningKey, type SigningKey } from "../../release/signing-key.ts";

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
  publish(directory, artefacts, key);
  const source = { version: "1.2.3", commit: "c".repeat(40), clean: true, time: 0 };
  const whole = releaseRecord(root, directory, { source, gates: gateNames.map(passed), keyId: key.keyId });
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
