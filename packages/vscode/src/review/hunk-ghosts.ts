import { ghostText } from "./hunk-words.ts";
import type { HunkMark } from "./shown-hunk.ts";

/** Text behind a line of the document that stands nowhere in it. */
export interface Ghost {
  /** 0-based. */
  readonly line: number;
  readonly text: string;
  readonly kind: "added" | "removed";
}

/**
 * What is shown of lines that stand elsewhere: of a proposal the new ones, each behind the line it takes the place of. Of what
 * the agent wrote the old ones, only where nothing took their place: the diff has the rest.
 * @param lineCount of the document
 */
export function ghostsOf(
  { kind, span, elsewhere }: HunkMark,
  isProposed: boolean,
  lineCount: number,
): readonly Ghost[] {
  if (elsewhere.length === 0) return [];
  if (kind === "place") {
    // Behind the line above; before the first line there is none.
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
