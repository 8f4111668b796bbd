import type { SessionSettings } from "@gennai/agent/session-settings";
import type { Backend } from "@gennai/client/session/settings";

export interface ModelChoice {
  readonly backend?: Backend;
  readonly model?: string;
  readonly baseUrl?: string;
}

/** What sessions of a server run with when they choose nothing: the model the user named, else the one that needs no key. */
export function defaultSettings(choice: ModelChoice): SessionSettings {
  return {
    backend: choice.backend ?? (choice.baseUrl === undefined ? "offline" : "openai-compatible"),
    model: choice.model ?? "",
    baseUrl: choice.baseUrl ?? "",
    maxTokens: 0,
    maxIterations: 50,
    editingMode: "branch",
    verbosity: "normal",
    interactive: true,
  };
}
