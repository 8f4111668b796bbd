import type { FoundDanger } from "../words/invocation.ts";

export const deny = (reason: string): FoundDanger => ({ verdict: "deny", reason, high: true });
/** Refused because work is lost by it: a person's own rule may ask instead. */
export const loses = (reason: string): FoundDanger => ({ verdict: "deny", reason, high: true, askable: true });
/** Refused by its text only where no stage holds what it would do. */
export const held = (found: FoundDanger): FoundDanger => ({ ...found, held: true });
export const ask = (reason: string): FoundDanger => ({ verdict: "ask", reason, high: true });
