import { createHash } from "node:crypto";
import { lstatSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { filesBelow } from "./files-below.ts";
import type { GateResult } from "./gates/gate.ts";
import type { SigningKey, Statement } from "./signing-key.ts";
import type { SourceState } from "./source-state.ts";
import { attestationsFile, recordType, requiredGates, sha256 } from "./verify.mjs";

/** What a release passed; the files are the subjects of the statement. */
export interface ReleaseRecord {
  readonly release: string;
  /** Over which the gates ran. */
  readonly commit: string;
  readonly result: "passed" | "refused";
  readonly gates: readonly GateResult[];
  /** SHA-256 over the sources that decide what may run. */
  readonly policy_sha256: string;
  /** SHA-256 over the protocol's definition. */
  readonly protocol_sha256: string;
}

/** Puts together what the gates say of a release. */
export function releaseRecord(root: string, source: SourceState, gates: readonly GateResult[]): ReleaseRecord {
  const passed = requiredGates.every((name) => gates.some((gate) => gate.name === name && gate.result === "passed"));
  return {
    release: source.version,
    commit: source.commit,
    result: passed && source.clean && gates.every(({ result }) => result === "passed") ? "passed" : "refused",
    gates,
    policy_sha256: treeDigest(root, ["packages/governance/src", "packages/sessions/src/policies"]),
    protocol_sha256: treeDigest(root, ["proto/gennai"]),
  };
}

/** Signs the record and puts it behind the provenance, in the place of one of an earlier run. */
export function publishRecord(directory: string, predicate: ReleaseRecord, key: SigningKey): void {
  const { subject, line } = published(directory);
  writeFileSync(
    join(directory, attestationsFile),
    `${line}\n${key.attest({ subject, predicateType: recordType, predicate })}`,
  );
}

const envelopeSchema = z.object({ payload: z.string() });
const statementSchema = z.object({
  subject: z.array(z.object({ name: z.string(), digest: z.object({ sha256: z.string() }) })),
});

/** What a release says of its files, unchecked, and the line that says it. */
export function published(directory: string): { readonly subject: Statement["subject"]; readonly line: string } {
  const [line = ""] = readFileSync(join(directory, attestationsFile), "utf8").split("\n");
  const { payload } = envelopeSchema.parse(JSON.parse(line));
  const { subject } = statementSchema.parse(JSON.parse(Buffer.from(payload, "base64").toString("utf8")));
  return { subject, line };
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
