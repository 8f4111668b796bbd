import type { EmergencyControl, EmergencyState } from "@gennai/protocol/model/governance/emergency";

/** One change of one control. */
export interface EmergencySwitch {
  readonly control: EmergencyControl;
  readonly enabled: boolean;
  /** Folded name for `block-tool`; empty for the others. */
  readonly tool: string;
}

/** The state after a switching. */
export function switched(state: EmergencyState, { control, enabled, tool }: EmergencySwitch): EmergencyState {
  switch (control) {
    case "read-only":
      return { ...state, readOnly: enabled };
    case "disable-high-impact":
      return { ...state, disableHighImpact: enabled };
    case "stop-all":
      return { ...state, stopAll: enabled };
    case "block-tool": {
      const others = state.blockedTools.filter((name) => name !== tool);
      return { ...state, blockedTools: enabled ? [...others, tool].sort() : others };
    }
  }
}
