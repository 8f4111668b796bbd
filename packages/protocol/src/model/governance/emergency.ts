import {
  EmergencyControl as EmergencyControlMessage,
  type EmergencyState as EmergencyStateMessage,
} from "../../gen/gennai/agent/v1/governance_pb.ts";
import { EnumWords, namesAsWords } from "../enum-words.ts";

export const emergencyControlWords = new EnumWords(namesAsWords(EmergencyControlMessage));

export type EmergencyControl = (typeof emergencyControlWords.words)[number];

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

/** What people switched off for everyone, at once. Reversed by people only. */
export interface EmergencyState {
  readonly readOnly: boolean;
  readonly disableHighImpact: boolean;
  /** Names of tools, and of groups such as `deploy`. */
  readonly blockedTools: readonly string[];
  readonly stopAll: boolean;
}

export const noEmergency: EmergencyState = {
  readOnly: false,
  disableHighImpact: false,
  blockedTools: [],
  stopAll: false,
};

export function emergencyToMessage({ readOnly, disableHighImpact, blockedTools, stopAll }: EmergencyState) {
  return { readOnly, disableHighImpact, blockedTools: [...blockedTools], stopAll };
}

/** None is on where the server says nothing. */
export function emergencyFromMessage(message: EmergencyStateMessage | undefined): EmergencyState {
  if (message === undefined) return noEmergency;
  const { readOnly, disableHighImpact, blockedTools, stopAll } = message;
  return { readOnly, disableHighImpact, blockedTools, stopAll };
}
