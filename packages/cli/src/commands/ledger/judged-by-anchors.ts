import { resolve } from "node:path";
import type { AnchorReport } from "@gennai/governance/ledger/anchor/check-anchors";
import { type BundleReport, type BundleSource, bundleRecords } from "@gennai/governance/ledger/bundle/verify-bundle";
import type { Console } from "../../terminal/console.ts";

interface AnchorFlags {
  readonly anchors?: readonly string[];
  readonly witness?: readonly string[];
}

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
  if (anchors === undefined || anchors.found === 0) return report;
  if (anchors.contradicted === undefined) return { ...report, anchors };
  return { ...report, anchors, status: "contradicts_anchor", message: anchors.contradicted.message };
}

/** Where a call of the command wants anchors to be looked for, but for git. */
export function anchorSources(flags: AnchorFlags, console: Pick<Console, "directory">) {
  return {
    files: (flags.anchors ?? []).map((file) => resolve(console.directory, file)),
    witnesses: flags.witness ?? [],
  };
}

/** Of a bundle: only in the files that are named. */
export async function bundleAnchors(
  report: BundleReport,
  open: BundleSource,
  publicKey: string | undefined,
  flags: AnchorFlags,
  console: Pick<Console, "directory">,
): Promise<AnchorReport | undefined> {
  const sources = { ...anchorSources(flags, console), repository: undefined };
  if (report.status !== "ok" || sources.files.length === 0) return undefined;
  const { findAnchors } = await import("@gennai/store/audit/ledger-anchors");
  return findAnchors(bundleRecords(open), sources, publicKey ?? report.publicKey);
}
