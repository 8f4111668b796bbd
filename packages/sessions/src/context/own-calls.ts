import type { GovernedTools } from "@gennai/governance/gate/gate";
import type { SessionBridge } from "../bridge/session-bridge.ts";
import type { ProjectCheck } from "./detect-check.ts";

/** For what the server fetches and checks for the user: the turn's gate, and no result in the conversation. */
export interface OwnCalls {
  readonly tools: GovernedTools;
  /** The same; what would ask a person is refused. */
  readonly unasked: GovernedTools;
  readonly editor: SessionBridge;
  /** Commands that the repository chose, by call id: a person has to accept them. */
  readonly repositoryChecks: Map<string, ProjectCheck>;
  /** The check that the project's configuration names. */
  readonly configuredCheck: string | undefined;
  /** The scenario has commands, so that a check may be one. */
  readonly runsCommands: boolean;
}
