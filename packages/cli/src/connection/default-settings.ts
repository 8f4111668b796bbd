import type { Backend } from "@gennai/protocol/model/session/backend";
import { type SessionSettings, settingDefaults } from "@gennai/protocol/model/session/session-settings";

export interface ModelChoice {
  readonly backend?: Backend;
  readonly model?: string;
  readonly baseUrl?: string;
}

/** Settings of a server's sessions that choose nothing: the model that the user named, else the one that needs no key. */
export function defaultSettings(choice: ModelChoice): SessionSettings {
  const backend = choice.baseUrl === undefined ? "offline" : "openai-compatible";
  return { ...settingDefaults, backend, ...choice };
}
