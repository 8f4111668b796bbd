import { bundleLines } from "@gennai/governance/ledger/bundle/bundle-layout";
import { type BundlePart, bundleParts, bundlePartWords } from "@gennai/store/audit/bundle-parts";
import { leavesText, leavingParts } from "../options/what-leaves.ts";

/** What would leave with a bundle, counted in the bundle itself. */
export async function listedBundle(
  lines: AsyncIterable<string>,
  parts: ReadonlySet<BundlePart>,
  workspaceRoot: string,
): Promise<string> {
  const counts = { record: 0, told: 0, session: 0, event: 0 };
  for await (const line of bundleLines(bytesOf(lines))) {
    if (line?.part.type === "record") {
      counts.record += 1;
      if (!line.part.json.includes('"purged":true')) counts.told += 1;
    } else if (line?.part.type === "session-start") counts.session += 1;
    else if (line?.part.type === "event") counts.event += 1;
  }
  // Of what is not in it there is nothing to count.
  const counted = {
    records: `; of ${counts.told}`,
    prompts: `; of ${counts.session} sessions with ${counts.event} events`,
  };
  const wordsOf = (part: BundlePart): string => `${bundlePartWords[part]}${parts.has(part) ? counted[part] : ""}`;
  const what = { records: wordsOf("records"), prompts: wordsOf("prompts") };
  return leavesText(`Would be in a bundle of ${workspaceRoot}, redacted, for whoever has the file:`, [
    {
      leaves: true,
      name: "chain",
      what: `number, id, time, kind and hashes of ${counts.record} records; of purges who asked; signatures`,
    },
    { leaves: true, name: "key", what: "the public key, the signed head, and the SHA-256 of the workspace's path" },
    ...leavingParts(bundleParts, what, parts),
    { leaves: false, name: "contents", what: "never; whole files, and what undo needs" },
  ]);
}

/** What would leave with lines of records. */
export async function listedLines(lines: AsyncIterable<string>, workspaceRoot: string): Promise<string> {
  let count = 0;
  for await (const _line of lines) count += 1;
  return leavesText(`Would be in the lines of ${workspaceRoot}, redacted, for whoever has them:`, [
    { leaves: true, name: "records", what: `${bundlePartWords.records} ; of ${count}` },
    { leaves: false, name: "prompts", what: bundlePartWords.prompts },
  ]);
}

async function* bytesOf(lines: AsyncIterable<string>): AsyncGenerator<Uint8Array, void, undefined> {
  const encoder = new TextEncoder();
  for await (const line of lines) yield encoder.encode(line);
}
