import type { EmergencyReport } from "@gennai/sessions/rules/emergency-here";
import type { Paint } from "../../terminal/colours.ts";
import { terminalSafe } from "../../terminal/terminal-safe.ts";
import { utcTime } from "../../terminal/utc-time.ts";

export interface EmergencyTold extends EmergencyReport {
  /** Turns that the switch ended; absent if no server runs. */
  readonly stoppedTurnIds?: readonly string[];
}

/** The controls and their last changes, for a person. */
export function describeEmergency({ state, changes, stoppedTurnIds }: EmergencyTold, paint: Paint): string {
  const line = (name: string, isOn: boolean, on: string, off: string): string =>
    `${name.padEnd(22)}${paint(isOn ? "red" : "green", isOn ? on : off)}`;
  return [
    line("read-only", state.readOnly, "on: nothing may be changed or run", "off"),
    line("disable-high-impact", state.disableHighImpact, "on: high risk is refused without a question", "off"),
    line("blocked", state.blockedTools.length > 0, terminalSafe(state.blockedTools.join(", ")), "nothing"),
    line("stop-all", state.stopAll, "on: no turn starts", "off"),
    ...(state.problem === undefined ? [] : [paint("red", `problem: ${terminalSafe(state.problem)}`)]),
    ...(stoppedTurnIds === undefined || stoppedTurnIds.length === 0
      ? []
      : [`Stopped: ${stoppedTurnIds.length === 1 ? "1 turn" : `${stoppedTurnIds.length} turns`}.`]),
    ...(changes.length === 0 ? [] : ["", "Last changes:"]),
    ...changes.map(
      ({ time, control, enabled, tool, by, via, reason, effective }) =>
        `  ${utcTime(time)}  ${control}${tool === "" ? "" : ` ${terminalSafe(tool)}`} ${enabled ? "on" : "off"}` +
        `${effective ? "" : " (refused: switched on by somebody else at the same moment)"}, by ${terminalSafe(by)} (${via}): ${terminalSafe(reason)}`,
    ),
  ].join("\n");
}
