import type { Question } from "../../confirmation.ts";

/**
 * Yes answers that outlive a session, kept by the machine. Each is for one exact action with all that it rests on, and for
 * the rules that asked about it; none is for high risk.
 */
export interface PersistentApprovals {
  /** What a yes for the workspace would cover, in a sentence; undefined: not offered for this call. */
  offer(question: Question): string | undefined;
  /** The call whose question was answered so; undefined if there is none. */
  find(question: Question, rules: readonly string[]): Promise<{ readonly callId: string } | undefined>;
  remember(question: Question, rules: readonly string[]): Promise<void>;
}
