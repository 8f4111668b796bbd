/** What people switched off for everyone, at once. Reversed by people only. */
export interface EmergencyState {
  readonly readOnly: boolean;
  readonly disableHighImpact: boolean;
  /** Names of tools, and of groups such as `deploy`. */
  readonly blockedTools: readonly string[];
  readonly stopAll: boolean;
}

export type EmergencyControl = "read-only" | "disable-high-impact" | "block-tool" | "stop-all";

export const noEmergency: EmergencyState = {
  readOnly: false,
  disableHighImpact: false,
  blockedTools: [],
  stopAll: false,
};
