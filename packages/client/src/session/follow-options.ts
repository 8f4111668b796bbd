import type { BridgeProblem } from "../host/bridge.ts";
import type { ConnectionChange } from "./subscription.ts";

/** How `AgentSession.follow` follows. */
export interface FollowOptions {
  readonly afterSeq: bigint;
  readonly signal: AbortSignal;
  /** Ends with the end of this turn. */
  readonly untilTurnId?: string;
  readonly maxAttempts?: number;
  readonly onConnection?: (change: ConnectionChange) => void;
  readonly onProblem?: (problem: BridgeProblem) => void;
}
