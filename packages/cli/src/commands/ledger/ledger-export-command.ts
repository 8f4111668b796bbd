import { bundleLines } from "@gennai/governance/ledger/bundle-layout";
import { type BundlePart, bundleParts, bundlePartWords, usualBundleParts } from "@gennai/store/audit/bundle-parts";
import { WorkspaceLedger } from "@gennai/store/audit/workspace-ledger";
import { usageError } from "../../terminal/cli-error.ts";
import type { Console } from "../../terminal/console.ts";
import { exitCode } from "../../terminal/exit-code.ts";
import { writeLines } from "../../terminal/write-lines.ts";
import { writeNewFile } from "../../terminal/write-new-file.ts";
import { partsOf } from "../options/chosen-parts.ts";
import { placeHere, type WorkspaceFlags } from "../options/resolve-workspace.ts";
import { type Leaving, leavesText, leavingParts } from "../options/what-leaves.ts";

export interface LedgerExportFlags extends WorkspaceFlags {
  readonly format?: string;
  readonly out?: string;
  readonly include?: string;
  readonly dryRun?: boolean;
}

const formats = ["agent-trace", "bundle", "seed001"] as const;

/** `gennai ledger export`: to a new file (0600), or to standard output. */
export async function ledgerExportCommand(flags: LedgerExportFlags, console: Console): Promise<number> {
  const format = formats.find((name) => name === flags.format);
  if (format === undefined) {
    throw usageError(`There is no format ${JSON.stringify(flags.format)}.`, `Choose --format ${formats.join(", ")}.`);
  }
  const parts = partsOf(flags.include, { all: bundleParts, usual: usualBundleParts });
  if (format !== "bundle" && parts.has("prompts")) {
    throw usageError("Lines are records, which hold no prompts: sessions are in bundles.", "Add --format bundle.");
  }
  const place = await placeHere(flags, console);
  const lines = new WorkspaceLedger(place).export(format, parts);
  if (flags.dryRun === true) {
    const listed = format === "bundle" ? listedBundle : listedLines;
    console.errors.write(await listed(lines, parts, place.workspaceRoot));
    return exitCode.ok;
  }
  if (flags.out === undefined) {
    await writeLines(lines, console.output);
    return exitCode.ok;
  }
  await writeNewFile(flags.out, lines, console);
  return exitCode.ok;
}

/** What an exported bundle would reveal, counted in the bundle itself. */
async function listedBundle(
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
async function listedLines(
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
