import { publicKeysOf } from "../public-keys.ts";
import { type BundleReport, type BundleSource, bundleRecords } from "../verify-bundle.ts";
import { type AnchorReport, type AnchorTools, checkAnchors, type KeptNote } from "./check-anchors.ts";
import type { NoteKey } from "./signed-note.ts";

/** A report, and what anchors add to it: a ledger that is sound by itself may be another one than was anchored. */
export type Judged<Report extends { readonly status: string }> = Omit<Report, "status"> & {
  readonly status: Report["status"] | "contradicts_anchor";
  readonly anchors?: AnchorReport;
};

/** @param anchors undefined: none were looked for, because the ledger is not sound by itself, or is empty */
export function withAnchors<Report extends { readonly status: string; readonly message: string }>(
  report: Report,
  anchors: AnchorReport | undefined,
): Judged<Report> {
  if (anchors === undefined) return report;
  if (anchors.contradicted === undefined) return { ...report, anchors };
  return { ...report, anchors, status: "contradicts_anchor", message: anchors.contradicted.message };
}

/** The anchors to compare a bundle with. */
export interface ChosenAnchors {
  readonly kept: readonly KeptNote[];
  readonly witnesses: readonly NoteKey[];
}

/**
 * Verifies a bundle and compares it with kept heads of its ledger. @param chosen undefined: none were given
 * @param publicKey SPKI PEM of the required signer; undefined: the bundle's own
 */
export async function judgeBundle(
  report: BundleReport,
  source: BundleSource,
  publicKey: string | undefined,
  chosen: ChosenAnchors | undefined,
  { verify, mostWhole }: Pick<AnchorTools, "verify"> & { readonly mostWhole?: number },
): Promise<Judged<BundleReport>> {
  if (report.status !== "ok" || chosen === undefined) return report;
  const keys = publicKeysOf(publicKey ?? report.publicKey).map(({ raw }) => raw);
  const lines = bundleRecords(source, mostWhole === undefined ? {} : { mostWhole });
  return withAnchors(report, await checkAnchors(lines, chosen.kept, { keys, witnesses: chosen.witnesses, verify }));
}
