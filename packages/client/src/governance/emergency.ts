import { type EmergencyControl, emergencyControlWords } from "@gennai/protocol/model/governance/emergency";
import type { CallOptions, GovernanceClient } from "../connection/connection.ts";

/** A person's switching of one control. */
export interface EmergencyRequest {
  readonly control: EmergencyControl;
  readonly enabled: boolean;
  /** For `block-tool`: a tool, a program, an MCP server, or the group `deploy`. */
  readonly tool: string;
  /** Who did it; recorded. */
  readonly by: string;
  /** Why; recorded, and not empty when a control is lifted. */
  readonly reason: string;
}

/** Switches a control; resolves with the ids of turns that ended by it, when it is effective. Rejects with `ConnectError`. */
export async function setEmergencyControl(
  client: GovernanceClient,
  request: EmergencyRequest,
  options: CallOptions,
): Promise<readonly string[]> {
  const { stoppedTurnIds } = await client.setEmergencyControl(
    { ...request, control: emergencyControlWords.toMessage(request.control) },
    options,
  );
  return stoppedTurnIds;
}
