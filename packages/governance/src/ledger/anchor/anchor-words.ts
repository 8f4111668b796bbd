import { type Anchor, type AnchorReport, firstTime } from "./check-anchors.ts";

/**
 * Since when the ledger could not have been rewritten unnoticed, and who confirms it: one sentence for each anchor that says
 * so. Names of files and witnesses in it come from outside.
 */
export function anchorWords({ found, oldest, newest, contradicted, lost }: AnchorReport): readonly string[] {
  if (found === 0) return ["no head of this ledger that its key signed is in what was chosen, so nothing was compared"];
  const held = [...new Set([oldest, newest])].filter((anchor) => anchor !== undefined).map(heldWords);
  return [
    ...held,
    ...(lost === 0 ? [] : [`${lost} within what was lost and accepted`]),
    ...(contradicted === undefined ? [] : [`${contradicted.anchor.where}: keep it and the ledger as evidence`]),
  ];
}

function heldWords(anchor: Anchor): string {
  const { size, said, where } = anchor;
  const records = size === 1 ? "record 1" : `records 1 to ${size}`;
  const first = said.toSorted((one, other) => one.time.getTime() - other.time.getTime())[0];
  if (first === undefined) return `${records}; nobody has said since when (${where})`;
  const since = `${new Date(firstTime(anchor)).toISOString().slice(0, 16).replace("T", " ")} UTC`;
  const word =
    first.by === "signer"
      ? "says the signer; that counts only if somebody else has kept the anchor since"
      : `says ${first.by.witness}`;
  return `${records} could not be rewritten without being noticed since ${since}, ${word} (${where})`;
}
