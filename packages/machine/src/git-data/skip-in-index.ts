import { createHash } from "node:crypto";
import { type EntryLayout, extended, type IndexLayout, indexLayout, skipWorktree } from "./git-index.ts";

/**
 * An index with git's flag `skip-worktree` set on some paths: git then ignores whether these files exist.
 * undefined for an index that cannot be judged.
 */
export function skipInIndex(bytes: Uint8Array, paths: ReadonlySet<string>): Uint8Array | undefined {
  const layout = indexLayout(bytes);
  if (layout === undefined) return undefined;
  const { view, version, objectBytes } = layout;
  const header = Buffer.from(view.subarray(0, 12));
  // Version 2 has no such flag.
  header.writeUInt32BE(Math.max(version, 3), 4);
  const entries = layout.entries.map((entry) => {
    const isMeant = paths.has(entry.path) && (entry.more & skipWorktree) === 0;
    return isMeant ? withFlag(entry, layout) : view.subarray(entry.start, entry.end);
  });
  const content = Buffer.concat([header, ...entries, ...extensions(layout)]);
  const before = view.subarray(view.length - objectBytes);
  // Git can be configured to write no digest.
  if (before.every((byte) => byte === 0)) return Buffer.concat([content, before]);
  return Buffer.concat([
    content,
    createHash(objectBytes === 20 ? "sha1" : "sha256")
      .update(content)
      .digest(),
  ]);
}

function withFlag(entry: EntryLayout, { view, version }: IndexLayout): Buffer {
  const flags = Buffer.alloc(4);
  flags.writeUInt16BE(entry.flags | extended, 0);
  flags.writeUInt16BE(entry.more | skipWorktree, 2);
  const rest = view.subarray(entry.nameAt, entry.end);
  const head = [view.subarray(entry.start, entry.flagsAt), flags];
  if (version === 4) return Buffer.concat([...head, rest]);
  const name = rest.subarray(0, rest.indexOf(0));
  const length = entry.flagsAt - entry.start + flags.length + name.length;
  return Buffer.concat([...head, name], (length + 8) & ~7);
}

/** All extensions but those with offsets of entries. */
function extensions({ view, end, objectBytes }: IndexLayout): readonly Buffer[] {
  const kept: Buffer[] = [];
  for (let at = end; at < view.length - objectBytes; ) {
    const next = at + 8 + view.readUInt32BE(at + 4);
    if (!["EOIE", "IEOT"].includes(view.toString("latin1", at, at + 4))) kept.push(view.subarray(at, next));
    at = next;
  }
  return kept;
}
