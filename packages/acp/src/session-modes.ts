import type { SessionMode, SessionModeState } from "@agentclientprotocol/sdk";
import type { EditingMode } from "@gennai/protocol/model/session-settings";

const modes = [
  {
    id: "branch",
    name: "Branch",
    description: "Writes on a branch of its own; review it in source control.",
  },
  {
    id: "proposal",
    name: "Proposal",
    description: "Writes nothing before you keep it: changes are shown when the turn ends.",
  },
] as const satisfies readonly (SessionMode & { readonly id: EditingMode })[];

/** What an editor offers to choose from, with what is in force. */
export function modeState(current: EditingMode): SessionModeState {
  return { currentModeId: current, availableModes: [...modes] };
}

/** undefined: there is no such mode. */
export function editingModeOf(modeId: string): EditingMode | undefined {
  return modes.find(({ id }) => id === modeId)?.id;
}
