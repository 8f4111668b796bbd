import { ReleaseError } from "../release-error.ts";
import type { Gate } from "./gate.ts";
import { parityGate } from "./parity-gate.ts";
import { reproducibleGate } from "./reproducible-gate.ts";
import { signatureGate } from "./signature-gate.ts";
import { smokeGate } from "./smoke-gate.ts";
import { testGates } from "./test-gates.ts";
import { wholeRunGate } from "./whole-run-gate.ts";

/** Every gate of a release; the quick ones come first, so that a release that cannot be is refused soon. */
export const releaseGates: readonly Gate[] = [
  signatureGate,
  wholeRunGate,
  smokeGate,
  parityGate,
  ...testGates,
  reproducibleGate,
];

/** Those of the names; without names all. Throws `ReleaseError` on a name that no gate has. */
export function gatesNamed(names: readonly string[] | undefined): readonly Gate[] {
  if (names === undefined) return releaseGates;
  const known = releaseGates.map(({ name }) => name);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new ReleaseError(`No gate is named ${unknown.join(", ")}: ${known.join(", ")}.`);
  return releaseGates.filter(({ name }) => names.includes(name));
}
