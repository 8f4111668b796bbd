import { RememberedAnswers } from "#gate/confirm/remembered-answers";
import type { GateOptions } from "#gate/gate-options";
import type { Policy } from "#policy";

const allows: Policy = { name: "allows", kind: "guard", decide: () => ({ type: "allow" }) };

/** A gate's options: all is allowed, nobody can be asked, nothing is written down. */
export function gateWith(more: Partial<GateOptions>): GateOptions {
  return {
    sessionId: "s",
    tools: new Map(),
    policies: [allows],
    confirmer: { ask: async () => ({ type: "nobody" }) },
    journal: silentJournal,
    redactor: { redact: async (text) => text, stream: () => ({ push: async (text) => text, end: async () => "" }) },
    remembered: new RememberedAnswers(),
    policySha256: "p",
    policyTimeoutMs: 1_000,
    now: () => 0,
    ...more,
  };
}

export const silentJournal: GateOptions["journal"] = {
  decided: () => undefined,
  begin: async () => undefined,
  reached: async () => undefined,
  end: async () => undefined,
  output: () => undefined,
  warn: () => undefined,
};
