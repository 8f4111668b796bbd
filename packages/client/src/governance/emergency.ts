import {
  type EmergencyState as StateMessage,
  EmergencyControl as WireControl,
} from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import type { GovernanceClient } from "../connection/connection.ts";

export type EmergencyControl = "read-only" | "disable-high-impact" | "block-tool" | "stop-all";

/** Which controls are on. */
export interface EmergencyState {
  readonly readOnly: boolean;
  readonly disableHighImpact: boolean;
  readonly stopAll: boolean;
  readonly blockedTools: readonly string[];
}

export const noEmergency: EmergencyState = {
  readOnly: false,
  disableHighImpact: false,
  stopAll: false,
  blockedTools: [],
};

/** None is on where the server says nothing. */
export function emergencyStateFromMessage(message: StateMessage | undefined): EmergencyState {
  if (message === undefined) return noEmergency;
  const { readOnly, disableHighImpact, stopAll, blockedTools } = message;
  return { readOnly, disableHighImpact, stopAll, blockedTools };
}

/** A person's switching of one control. */
export interface EmergencyRequest {
  readonly control: EmergencyControl;
  readonly enabled: boolean;
  /** For `block-tool`: a tool, a program, an MCP server, or the group `deploy`. */
  readonly tool: string;
  /** Who; recorded. */
  readonly by: string;
  /** Why; recorded, and not empty when a control is lifted. */
  readonly reason: string;
}

const controls: Record<EmergencyControl, WireControl> = {
  "read-only": WireControl.READ_ONLY,
  "disable-high-impact": WireControl.DISABLE_HIGH_IMPACT,
  "block-tool": WireControl.BLOCK_TOOL,
  "stop-all": WireControl.STOP_ALL,
};

/** Switches a control; resolves with the ids of turns that ended by it, when it is effective. Rejects with `ConnectError`. */
export async function setEmergencyControl(
  client: GovernanceClient,
  request: EmergencyRequest,
  options: { readonly signal: AbortSignal },
): Promise<readonly string[]> {
  const { stoppedTurnIds } = await client.setEmergencyControl(
    { ...request, control: controls[request.control] },
    options,
  );
  return stoppedTurnIds;
}
