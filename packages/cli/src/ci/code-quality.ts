import { describeRefusal, fingerprintOf, placeOf } from "./refusal-place.ts";
import type { Refusal } from "./refusals.ts";

/** The refusals as GitLab's Code Quality report (https://docs.gitlab.com/ci/testing/code_quality/), which a merge request shows. */
export function codeQualityOf(refusals: readonly Refusal[]): readonly object[] {
  const seen = new Set<string>();
  return refusals.flatMap((refusal) => {
    const fingerprint = fingerprintOf(refusal);
    // A repeated fingerprint makes the whole report invalid.
    if (seen.has(fingerprint)) return [];
    seen.add(fingerprint);
    const { file, line } = placeOf(refusal);
    return {
      description: describeRefusal(refusal),
      check_name: refusal.rule,
      fingerprint,
      severity: refusal.unanswered ? "minor" : "major",
      location: { path: file, lines: { begin: line } },
    };
  });
}
