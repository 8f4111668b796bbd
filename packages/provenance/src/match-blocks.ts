import { createHash } from "node:crypto";
import type { Match } from "./matching/passage.ts";
import type { RecordedWrite } from "./matching/recorded-write.ts";
import { linesOf, squeezed, tells } from "./matching/text-lines.ts";

/** Minimum characters of a block to be attributed to a write: shorter ones may be anyone's. */
const enough = 14;
/** Blocks of more different lengths are not looked for. */
const mostLengths = 200;

/**
 * Attributes lines in a block whose hash is recorded: for writes whose contents are no longer stored. Already matched lines
 * stay. A block of several writes is ambiguous.
 */
export function matchBlocks(
  text: string,
  matches: readonly Match[],
  writes: ReadonlyMap<number, RecordedWrite>,
): readonly Match[] {
  const byHash = new Map<string, Set<number>>();
  const lengths = new Set<number>();
  for (const [write, { blocks }] of writes) {
    for (const { startLine, endLine, sha256 } of blocks) {
      const length = endLine - startLine + 1;
      if (length < 1 || (lengths.size >= mostLengths && !lengths.has(length))) continue;
      lengths.add(length);
      byHash.set(sha256, (byHash.get(sha256) ?? new Set()).add(write));
    }
  }
  const lines = linesOf(text);
  const filled = [...matches];
  // The longest say the most.
  for (const length of [...lengths].sort((one, other) => other - one)) {
    for (let first = 0; first + length <= lines.length; first += 1) {
      const isOpen = filled.slice(first, first + length).some((match) => match.type === "unknown");
      if (!isOpen) continue;
      const block = lines.slice(first, first + length);
      const made = byHash.get(createHash("sha256").update(block.join("\n"), "utf8").digest("hex"));
      if (made === undefined || block.reduce((sum, line) => sum + tells(squeezed(line)), 0) < enough) continue;
      const [write] = made;
      for (let at = first; at < first + length; at += 1) {
        if (filled[at]?.type !== "unknown" || write === undefined) continue;
        filled[at] =
          made.size === 1
            ? { type: "write", write, method: "block-hash", confidence: 0.97 }
            : { type: "unknown", reason: "ambiguous", candidates: [...made] };
      }
    }
  }
  return filled;
}
