import type { GovernedTools } from "@gennai/governance/gate/gate";
import type { SessionBridge } from "../bridge/session-bridge.ts";
import type { ProjectCheck } from "./detect-check.ts";

/**
 * Calls by the server itself, for fetching context and for checks: through the turn's gate, without results in the
 * conversation.
 */
export interface OwnCalls {
  readonly tools: GovernedTools;
  /** The same tools, but refused instead of asking a user. */
  readonly unasked: GovernedTools;
  readonly editor: SessionBridge;
  /** Commands defined by the repository, by call id: a user must accept them. */
  readonly repositoryChecks: Map<string, ProjectCheck>;
  /** The check that the project's configuration names. */
  readonly configuredCheck: string | undefined;
  /** The scenario allows commands, so that a check can run. */
  readonly runsCommands: boolean;
}
