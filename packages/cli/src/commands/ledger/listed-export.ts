import { bundleLines } from "@gennai/governance/ledger/bundle-layout";
import { type BundlePart, bundleParts, bundlePartWords } from "@gennai/store/audit/bundle-parts";
import { type Leaving, leavesText, leavingParts } from "../options/what-leaves.ts";

/** What an exported bundle would reveal, counted in the bundle itself. */
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
  const sessions = `of ${counts.session} sessions with ${counts.event} events`;
  return leavesText(`Would be in a bundle of ${workspaceRoot}, redacted, for anyone who has the file:`, [
    chainOf(counts.record),
    { leaves: true, name: "key", what: "the public key, the signed head, and the SHA-256 of the workspace's path" },
    ...chosen(parts, { records: `of ${counts.told}`, prompts: sessions }),
    contents,
  ]);
}

/** The same for an export as lines of records. */
export async function listedLines(
  lines: AsyncIterable<string>,
  parts: ReadonlySet<BundlePart>,
  workspaceRoot: string,
): Promise<string> {
  let count = 0;
  for await (const _line of lines) count += 1;
  return leavesText(`Would be in the lines of ${workspaceRoot}, redacted, for anyone who has them:`, [
    chainOf(count),
    { leaves: false, name: "key", what: "never; lines are not signed as a whole" },
    ...chosen(parts, { records: `of ${count}`, prompts: "" }),
    contents,
  ]);
}

function chainOf(count: number): Leaving {
  const what = `number, id, time, kind and hashes of ${count} records; of purges who asked; signatures`;
  return { leaves: true, name: "chain", what };
}

/** @param counted what is in the export; not used for parts that are not in it */
function chosen(parts: ReadonlySet<BundlePart>, counted: Readonly<Record<BundlePart, string>>): readonly Leaving[] {
  const wordsOf = (part: BundlePart): string =>
    `${bundlePartWords[part]}${parts.has(part) ? `; ${counted[part]}` : ""}`;
  return leavingParts(bundleParts, { records: wordsOf("records"), prompts: wordsOf("prompts") }, parts);
}

const contents: Leaving = { leaves: false, name: "contents", what: "never; whole files, and what undo needs" };

async function* bytesOf(lines: AsyncIterable<string>): AsyncGenerator<Uint8Array, void, undefined> {
  const encoder = new TextEncoder();
  for await (const line of lines) yield encoder.encode(line);
}
