import type { SessionEvent } from "@gennai/agent/events/session-event";
import { type LedgerEntry, outsideTurns } from "@gennai/governance/ledger/ledger-entry";
import type { EmergencySwitch } from "@gennai/governance/limits/emergency-state";
import { foldToolName } from "@gennai/governance/limits/emergency-verdict";
import { ServiceError } from "@gennai/machine/service-error";
import {
  type EmergencyState,
  type EmergencyRequest as EmergencySwitching,
  emergencyControlWords,
} from "@gennai/protocol/model/governance/emergency";
import * as z from "zod";

/** A request to switch an emergency control. */
export interface EmergencyRequest extends EmergencySwitching {
  /** How the request was made. */
  readonly via: "rpc" | "cli";
}

/** The same fields as stored. */
export const emergencyRequestFields = {
  control: z.enum(emergencyControlWords.words),
  enabled: z.boolean(),
  tool: z.string(),
  by: z.string(),
  reason: z.string(),
  via: z.enum(["rpc", "cli"]),
};

/** A change of a control, effective or overruled by a stricter one made at the same time. */
export interface EmergencyChange extends EmergencySwitch {
  /** Sequence number within a state directory, from 1. */
  readonly number: number;
  /** Milliseconds since the epoch. */
  readonly time: number;
  readonly by: string;
  readonly reason: string;
  readonly via: "rpc" | "cli";
  /** False if it was overruled because someone tightened the same control at the same moment. */
  readonly effective: boolean;
  /** State after the change. */
  readonly state: EmergencyState;
}

const maxText = 1_000;

/** The request as recorded. Tightening needs no reason; loosening does. Throws `ServiceError` `invalid_argument`. */
export function checkedRequest(request: EmergencyRequest): EmergencyRequest {
  const blocks = request.control === "block-tool";
  const tool = blocks ? foldToolName(request.tool) : "";
  if (blocks && (tool === "" || tool.length > 200)) {
    throw new ServiceError("invalid_argument", "tool is empty or longer than 200 characters.", {
      hint: "Name a tool, e.g. Bash, a program, or the group deploy.",
    });
  }
  const reason = oneLine(request.reason);
  if (reason === "" && !request.enabled) {
    throw new ServiceError("invalid_argument", "reason is empty.", {
      hint: "Say why the control is lifted; it is recorded.",
    });
  }
  return { ...request, tool, reason: reason || "no reason given", by: oneLine(request.by) || "unknown" };
}

export function emergencyEvent(change: EmergencyChange): SessionEvent {
  const { state, control, enabled, tool, by, reason } = change;
  return { type: "emergency-changed", state, control, enabled, tool, by, reason };
}

export function emergencyEntry(change: EmergencyChange): LedgerEntry {
  const { number, time, control, enabled, tool, by, reason, via, effective, state } = change;
  return {
    kind: "emergency",
    time,
    ...outsideTurns,
    details: { change: number, control, enabled, ...(tool === "" ? {} : { tool }), by, reason, via, effective, state },
  };
}

function oneLine(text: string): string {
  return text.toWellFormed().replace(/\s+/g, " ").trim().slice(0, maxText);
}
