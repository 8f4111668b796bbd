import { anchorWords } from "@gennai/governance/ledger/anchor/anchor-words";
import type { Judged } from "@gennai/governance/ledger/anchor/judged-by-anchors";
import type { BundleReport } from "@gennai/governance/ledger/verify-bundle";
import { element, told } from "./elements.ts";

/** What the check came to: first whether the bundle is sound, then all that was found, and last what that does not say. */
export function reportParts(report: Judged<BundleReport>): readonly Node[] {
  const { status, message, keyId, keyIsGiven, records, purged, problem, rollbacks, notes, anchors } = report;
  const isSound = status === "ok";
  const whose = keyIsGiven
    ? "by the key that you chose"
    : "by the key that stands in the bundle itself: this only shows that it fits together. Choose the signer's key to know who signed";
  const verdict = element(
    "p",
    `verdict ${isSound ? (keyIsGiven ? "good" : "partly") : "bad"}`,
    isSound
      ? keyIsGiven
        ? "Sound: chained and signed by the key that you chose."
        : "Fits together, but whose it is was not checked: choose the signer's public key."
      : `Not sound (${status}): ${told(message)}`,
  );
  verdict.setAttribute("role", isSound ? "status" : "alert");
  const facts: readonly (readonly [string, string])[] = [
    ["result", status],
    ["records", `${records} signed, ${purged} of them without content`],
    ["signed", whose],
    ["key", keyId === "" ? "none" : told(keyId)],
    ...(problem === undefined ? [] : [["first bad place", `record ${problem.seq}, byte ${problem.offset}`] as const]),
    ...rollbacks.map(
      ({ seq, from, to }) =>
        ["lost", `records ${to + 1} to ${from}: record ${seq} says so, and somebody accepted it`] as const,
    ),
    ...(anchors === undefined ? [] : anchorWords(anchors)).map((words) => ["anchored", told(words)] as const),
    ...notes.map(({ code, line }) => ["note", `line ${line}: ${code.replaceAll("_", " ")}`] as const),
  ];
  const list = element("dl", "facts");
  for (const [name, words] of facts) list.append(element("dt", "", name), element("dd", "", words));
  const limits = element(
    "p",
    "quiet",
    anchors?.newest === undefined
      ? "Anyone who has the private key can sign another ledger. To find that out, choose the heads that somebody else kept (gennai ledger anchor), or compare with an earlier bundle."
      : "Whoever has the private key can sign another ledger. Records up to a head that somebody else kept cannot change.",
  );
  return isSound ? [verdict, list, limits] : [verdict, list];
}
