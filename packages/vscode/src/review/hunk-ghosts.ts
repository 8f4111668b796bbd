import { ghostText } from "./hunk-words.ts";
import type { HunkMark } from "./shown-hunk.ts";

/** Text shown after a line of the document that is not part of it. */
export interface Ghost {
  /** 0-based. */
  readonly line: number;
  readonly text: string;
  readonly kind: "added" | "removed";
}

/**
 * Lines that are shown but are not in the document. For a proposal: the new lines, each after the line it replaces. For the
 * agent's changes: the old lines, only if nothing replaced them, because the diff shows all others.
 * @param lineCount lines of the document
 */
export function ghostsOf(
  { kind, span, elsewhere }: HunkMark,
  isProposed: boolean,
  lineCount: number,
): readonly Ghost[] {
  if (elsewhere.length === 0) return [];
  if (kind === "place") {
    // After the line above; at the first line, after that line itself.
    const line = Math.max(0, Math.min(span.start, lineCount) - 1);
    const text = ghostText(elsewhere[0] ?? "", elsewhere.length - 1, isProposed ? "+" : "−");
    return [{ line, text, kind: isProposed ? "added" : "removed" }];
  }
  if (kind !== "removed") return [];
  const ghosts: Ghost[] = [];
  for (let line = span.start; line < span.end && line - span.start < elsewhere.length; line++) {
    const at = line - span.start;
    const more = line === span.end - 1 ? elsewhere.length - at - 1 : 0;
    ghosts.push({ line, text: ghostText((elsewhere[at] ?? "").trimStart(), more, "→"), kind: "added" });
  }
  return ghosts;
}
