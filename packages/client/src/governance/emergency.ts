import { type EmergencyRequest, emergencyControlWords } from "@gennai/protocol/model/governance/emergency";
import type { CallOptions, GovernanceClient } from "../connection/connection.ts";

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
