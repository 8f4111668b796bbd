import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Statement } from "./signing-key.ts";
import type { SourceState } from "./source-state.ts";
import { buildType, provenanceType, sha256 } from "./verify.mjs";

/** From what and how files were made: provenance of SLSA, version 1. */
export function provenance(
  root: string,
  { version, commit, clean }: SourceState,
  subject: Statement["subject"],
): Statement {
  const lock = "pnpm-lock.yaml";
  return {
    subject,
    predicateType: provenanceType,
    predicate: {
      buildDefinition: {
        buildType,
        externalParameters: { version, clean },
        resolvedDependencies: [
          { name: "source", digest: { gitCommit: commit } },
          { name: lock, digest: { sha256: sha256(readFileSync(join(root, lock))) } },
        ],
      },
      runDetails: {
        // The releaser's own machine: no service vouches for it, only the key.
        builder: { id: `${buildType}#releaser`, version: tools(root) },
        metadata: { invocationId: `urn:uuid:${randomUUID()}` },
      },
    },
  };
}

function tools(root: string): Readonly<Record<string, string>> {
  const manifest: unknown = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const esbuild = /"esbuild": "([^"]+)"/.exec(JSON.stringify(manifest, undefined, 1))?.[1] ?? "";
  return {
    node: process.versions.node,
    platform: `${process.platform}-${process.arch}`,
    esbuild,
    git: execFileSync("git", ["--version"], { encoding: "utf8" }).trim(),
    npm: execFileSync("npm", ["--version"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim(),
  };
}
