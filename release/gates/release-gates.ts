import type { Gate } from "./gate.ts";
import { parityGate } from "./parity-gate.ts";
import { reproducibleGate } from "./reproducible-gate.ts";
import { signatureGate } from "./signature-gate.ts";
import { smokeGate } from "./smoke-gate.ts";
import { testGates } from "./test-gates.ts";

/** Every gate of a release; the quick ones come first, so that a release that cannot be is refused soon. */
export const releaseGates: readonly Gate[] = [signatureGate, smokeGate, parityGate, ...testGates, reproducibleGate];
