import type { SessionMode, SessionModeState } from "@agentclientprotocol/sdk";
import type { EditingMode } from "@gennai/protocol/model/session/session-settings";

/** What a choice of the editor's user means to the server. */
export interface Mode extends SessionMode {
  /** Setting of the session. */
  readonly editingMode: EditingMode;
  /** Scenario of every prompt; absent: the editing mode's own, or the one that was typed. */
  readonly scenario?: string;
}

const branch: Mode = {
  id: "branch",
  name: "Branch",
  description: "Writes on a branch of its own; review it in source control.",
  editingMode: "branch",
};
const proposal: Mode = {
  id: "proposal",
  name: "Proposal",
  description: "Writes nothing before you keep it: changes are shown when the turn ends.",
  editingMode: "proposal",
};
const modes: readonly Mode[] = [
  branch,
  proposal,
  {
    id: "plan",
    name: "Plan",
    description: "Writes a plan and nothing else. You see every action, and it runs after your yes to exactly that.",
    editingMode: "branch",
    scenario: "PLAN",
  },
  {
    // In Proposal Mode the server writes nothing by itself, whatever a project's own RESPOND may use.
    id: "read-only",
    name: "Read-only",
    description: "Reads and answers. Nothing is changed, and nothing is offered to be kept.",
    editingMode: "proposal",
    scenario: "RESPOND",
  },
];

/** What an editor offers to choose from, with what is in force. */
export function modeState({ id: currentModeId }: Mode): SessionModeState {
  return {
    currentModeId,
    availableModes: modes.map(({ id, name, description = null }) => ({ id, name, description })),
  };
}

/** undefined: there is no such mode. */
export function modeOf(modeId: unknown): Mode | undefined {
  return modes.find(({ id }) => id === modeId);
}

/** The mode of a session that is opened: of it only the setting is kept. */
export function modeFor(editingMode: EditingMode): Mode {
  return editingMode === "proposal" ? proposal : branch;
}
