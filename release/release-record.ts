import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { lstatSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { filesBelow } from "./files-below.ts";
import type { GateResult } from "./gates/gate.ts";
import type { SigningKey } from "./signing-key.ts";
import type { SourceState } from "./source-state.ts";
import { recordFile, requiredGates, sha256, signatureFile, sumsFile } from "./verify.mjs";

/** What was released, and what it passed. */
export interface ReleaseRecord {
  readonly format: "gennai-release-record";
  readonly version: 1;
  readonly release: string;
  readonly commit: string;
  readonly clean: boolean;
  readonly result: "passed" | "refused";
  /** SHA-256 of `SHA256SUMS`. */
  readonly sums_sha256: string;
  readonly artefacts: readonly { readonly name: string; readonly size: number; readonly sha256: string }[];
  readonly gates: readonly GateResult[];
  /** SHA-256 over the sources that decide what may run. */
  readonly policy_sha256: string;
  /** SHA-256 over the protocol's definition. */
  readonly protocol_sha256: string;
  readonly tools: Readonly<Record<string, string>>;
  readonly key_id: string;
}

/** Puts together what is known of a release. @param directory of the release */
export function releaseRecord(
  root: string,
  directory: string,
  facts: { readonly source: SourceState; readonly gates: readonly GateResult[]; readonly keyId: string },
): ReleaseRecord {
  const { source, gates, keyId } = facts;
  const sums = readFileSync(join(directory, sumsFile));
  const lines = sums.toString("utf8").split("\n").slice(0, -1);
  const passed = requiredGates.every((name) => gates.some((gate) => gate.name === name && gate.result === "passed"));
  return {
    format: "gennai-release-record",
    version: 1,
    release: source.version,
    commit: source.commit,
    clean: source.clean,
    result: passed && source.clean && gates.every(({ result }) => result === "passed") ? "passed" : "refused",
    sums_sha256: sha256(sums),
    artefacts: lines.map((line) => {
      const name = line.slice(66);
      return { name, size: lstatSync(join(directory, name)).size, sha256: line.slice(0, 64) };
    }),
    gates,
    policy_sha256: treeDigest(root, ["packages/governance/src", "packages/sessions/src/policies/turn-policies.ts"]),
    protocol_sha256: treeDigest(root, ["proto/gennai"]),
    tools: tools(root),
    key_id: keyId,
  };
}

/** Writes the record and signs it, in the place of one of an earlier run. */
export function publishRecord(directory: string, record: ReleaseRecord, key: SigningKey): void {
  for (const name of [recordFile, signatureFile(recordFile)]) rmSync(join(directory, name), { force: true });
  writeFileSync(join(directory, recordFile), `${JSON.stringify(record, undefined, 2)}\n`);
  key.signFile(directory, recordFile);
}

/** SHA-256 over names and contents of files, sorted by name. */
function treeDigest(root: string, paths: readonly string[]): string {
  const hash = createHash("sha256");
  const files = paths.flatMap((path) => {
    const isFile = lstatSync(join(root, path)).isFile();
    return isFile ? [path] : filesBelow(join(root, path)).map((name) => `${path}/${name}`);
  });
  for (const file of files.sort()) hash.update(`${file}\0${sha256(readFileSync(join(root, file)))}\n`);
  return hash.digest("hex");
}

function tools(root: string): Readonly<Record<string, string>> {
  const manifest: unknown = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const versionOf = (name: string): string =>
    new RegExp(`"${name}": "([^"]+)"`).exec(JSON.stringify(manifest, undefined, 1))?.[1] ?? "";
  return {
    node: process.versions.node,
    platform: `${process.platform}-${process.arch}`,
    esbuild: versionOf("esbuild"),
    rolldown: versionOf("rolldown"),
    git: execFileSync("git", ["--version"], { encoding: "utf8" }).trim(),
    npm: execFileSync("npm", ["--version"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim(),
  };
}
