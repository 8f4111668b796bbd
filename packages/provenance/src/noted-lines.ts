import { readFile } from "node:fs/promises";
import { notesOf } from "@gennai/git/git-notes";
import { readObjects } from "@gennai/git/read-objects";
import { ledgerVerifier } from "@gennai/store/ledger/ledger-key";
import { KnownText } from "./matching/known-text.ts";
import { outside, type Source } from "./matching/passage.ts";
import type { RecordedWrite } from "./matching/recorded-write.ts";
import { linesOf, squeezed, tells } from "./matching/text-lines.ts";
import { isTraceGenuine, rangeHash, type TraceRecord, traceRecords, urnOf, writesOf } from "./trace-record.ts";
import type { ProvenanceTrust } from "./workspace-provenance.ts";

/** Minimum characters of a block that is not where the note says: shorter ones may be anyone's. */
const enough = 14;
const mostFiles = 20_000;

export interface NotedLines {
  readonly trust: ProvenanceTrust;
  readonly writes: readonly RecordedWrite[];
  /** Its writes are numbered as in `writes`. */
  readonly text: KnownText;
}

/**
 * What the notes of HEAD's history say, of files as they are in the noted commits. A line counts where its text has the hash that
 * the note says. With a key (a file with SPKI PEM), notes that it did not sign are left out.
 */
export async function readNotedLines(directory: string, publicKeyFile: string | undefined): Promise<NotedLines> {
  const verifier = publicKeyFile === undefined ? undefined : ledgerVerifier(await readFile(publicKeyFile, "utf8"));
  const found: { readonly commit: string; readonly record: TraceRecord }[] = [];
  let left = 0;
  for (const { commit, text } of await notesOf(directory)) {
    for (const record of traceRecords(text)) {
      if (verifier === undefined || (await isTraceGenuine(record, verifier))) found.push({ commit, record });
      else left += 1;
    }
  }
  const writes: RecordedWrite[] = [];
  const numbers = new Map<string, number>();
  const files: { readonly name: string; readonly commit: string; readonly path: string }[] = [];
  const claims = new Map<string, { readonly number: number; readonly range: Range }[]>();
  for (const { commit, record } of found) {
    const byUrn = new Map([...writesOf(record)].map(([id, write]) => [urnOf(id), write]));
    for (const { path, conversations } of record.files) {
      const name = `${commit}:${path}`;
      if (!claims.has(name) && files.length < mostFiles) files.push({ name, commit, path });
      for (const { ranges, related } of conversations) {
        const urn = related.find(({ url }) => byUrn.has(url))?.url ?? "";
        const write = byUrn.get(urn);
        if (write === undefined) continue;
        const number = numbers.get(urn) ?? writes.length;
        // Ledgers of several machines count from 1 each.
        if (number === writes.length) writes.push({ ...write, path, seq: number + 1 });
        numbers.set(urn, number);
        const told = ranges.map(({ start_line: start, end_line: end, content_hash: hash }) => ({
          number,
          range: { start, end, hash },
        }));
        claims.set(name, [...(claims.get(name) ?? []), ...told]);
      }
    }
  }
  const text = new KnownText();
  const names = files.map(({ name }) => name);
  await readObjects(directory, names, (at, bytes) => {
    const { name, path } = files[at] ?? { name: "", path: "" };
    if (bytes.includes(0)) return false;
    const lines = linesOf(bytes.toString("utf8"));
    text.addVersion(path, lines, sourcesOf(lines, claims.get(name) ?? []));
    return false;
  });
  return { trust: trustOf(found.length, left, verifier !== undefined), writes, text };
}

interface Range {
  readonly start: number;
  readonly end: number;
  readonly hash: string;
}

/** Whose each line is. A block that git moved when it rewrote the commit is looked for by its hash. */
function sourcesOf(
  lines: readonly string[],
  claims: readonly { readonly number: number; readonly range: Range }[],
): readonly Source[] {
  const sources: Source[] = lines.map(() => outside);
  const digests = new Map<string, string>();
  const hashAt = (first: number, length: number): string => {
    const key = `${first}:${length}`;
    const hash = digests.get(key) ?? rangeHash(lines.slice(first, first + length));
    digests.set(key, hash);
    return hash;
  };
  for (const { number, range } of claims) {
    const length = range.end - range.start + 1;
    if (length < 1 || length > lines.length) continue;
    let first = range.start - 1;
    if (first + length > lines.length || hashAt(first, length) !== range.hash) {
      first = lines.findIndex((_, at) => at + length <= lines.length && hashAt(at, length) === range.hash);
      const told = lines.slice(first, first + length).reduce((sum, line) => sum + tells(squeezed(line)), 0);
      if (first === -1 || told < enough) continue;
    }
    sources.fill(number, first, first + length);
  }
  return sources;
}

function trustOf(count: number, left: number, isChecked: boolean): ProvenanceTrust {
  const notes = count === 1 ? "1 note" : `${count} notes`;
  if (!isChecked) {
    const message = `Of ${notes} it is not known who wrote them: name the signer's key with --public-key.`;
    return { status: "unchecked", message, source: "unchecked-notes" };
  }
  const signed = `${notes} ${count === 1 ? "is as this key signed it" : "are as this key signed them"}.`;
  const others = left === 0 ? "" : ` ${left} that it did not sign ${left === 1 ? "was" : "were"} left out.`;
  return { status: "ok", message: `${signed}${others}`, source: "notes" };
}
