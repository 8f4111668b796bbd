import { type Anchor, type AnchorReport, firstTime } from "@gennai/governance/ledger/anchor/check-anchors";
import { terminalSafe } from "../../terminal/terminal-safe.ts";

/** Lines of a report: since when nobody could have rewritten the ledger, and by whose word. */
export function anchorLines({ found, oldest, newest, contradicted, lost }: AnchorReport): readonly string[] {
  if (found === 0) return [];
  const held = [
    ...(oldest === undefined ? [] : [`  anchored ${anchorWords(oldest)}`]),
    ...(newest === undefined || newest === oldest ? [] : [`  anchored ${anchorWords(newest)}`]),
    ...(lost === 0 ? [] : [`  anchored ${lost} within what was lost and accepted`]),
  ];
  const wrong = contradicted && [
    `  anchor   ${terminalSafe(contradicted.anchor.where)}: keep it and the ledger as evidence`,
  ];
  return [...held, ...(wrong ?? [])];
}

function anchorWords(anchor: Anchor): string {
  const { size, said, where } = anchor;
  const records = size === 1 ? "record 1" : `records 1 to ${size}`;
  const first = said.toSorted((one, other) => one.time.getTime() - other.time.getTime())[0];
  if (first === undefined) return `${records}; nobody says since when (${terminalSafe(where)})`;
  const since = `${new Date(firstTime(anchor)).toISOString().slice(0, 16).replace("T", " ")} UTC`;
  const word =
    first.by === "signer"
      ? "by the signer's own word, which counts as far as somebody else has kept it since"
      : `by the word of ${terminalSafe(first.by.witness)}`;
  return `${records} could not be rewritten unseen since ${since}, ${word} (${terminalSafe(where)})`;
}
