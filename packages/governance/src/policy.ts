import type { Effect } from "./effect.ts";
import type { Analysis } from "./tool.ts";
import { allow, type Judgement, strictest, type Verdict } from "./verdict.ts";

/** Input of a policy. Everything in it was computed by the server; nothing comes from a request's control fields. */
export interface PolicyInput {
  readonly callId: string;
  readonly toolName: string;
  /** As the tool's schema parsed them: complete, including any secrets. */
  readonly args: unknown;
  readonly access: "read" | "change";
  readonly analysis: Analysis;
  readonly sessionId: string;
  readonly turnId: string;
}

/**
 * One policy of stage 4 of the gate. Every policy runs for every call. A `guard` that throws or times out denies the call, even
 * a pure read; an `observer` that fails lets a pure read continue with a warning.
 */
export interface Policy {
  readonly name: string;
  readonly kind: "guard" | "observer";
  /** `external`: external hooks. They run, together, only when no other policy has denied. */
  readonly stage?: "external";
  /** Milliseconds it may take, when it needs other than the gate's own limit. */
  readonly timeoutMs?: number;
  decide(input: PolicyInput, options: { readonly signal: AbortSignal }): Judgement | Promise<Judgement>;
}

/** A guard that judges each effect of a call by itself: the strictest verdict is that on the call, and none allows it. */
export function eachEffect(name: string, judge: (effect: Effect) => Verdict | readonly Verdict[]): Policy {
  return {
    name,
    kind: "guard",
    decide: ({ analysis }) => strictest([allow, ...analysis.effects.flatMap(judge)]),
  };
}
