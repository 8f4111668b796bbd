import type { ModelCapabilities } from "@gennai/agent/model";
import {
  type Backend as DomainBackend,
  noLimits,
  type SessionLimits,
  type SessionSettings,
} from "@gennai/agent/session-settings";
import { Backend, EditingMode, type Settings, Verbosity } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { ServiceError } from "../../service-error.ts";
import { keyOf } from "./checked-field.ts";

const backends: Record<DomainBackend, Backend> = {
  ollama: Backend.OLLAMA,
  anthropic: Backend.ANTHROPIC,
  openai: Backend.OPENAI,
  gemini: Backend.GEMINI,
  offline: Backend.OFFLINE,
  scripted: Backend.SCRIPTED,
  "openai-compatible": Backend.OPENAI_COMPATIBLE,
  editor: Backend.EDITOR,
};

const modes = { branch: EditingMode.BRANCH, proposal: EditingMode.PROPOSAL } as const;

const verbosities = { terse: Verbosity.TERSE, normal: Verbosity.NORMAL, detailed: Verbosity.DETAILED } as const;

const maxOfIterations = 1000;

/** What a client asked for over what is in force; unset fields keep their value. */
export function settingsFromWire(
  wire: Settings | undefined,
  current: SessionSettings,
  interactive = current.interactive,
): SessionSettings {
  if (wire === undefined) return { ...current, interactive };
  if (wire.maxTokens < 0) throw new ServiceError("invalid_argument", "settings.max_tokens cannot be negative.");
  if (wire.maxIterations < 0 || wire.maxIterations > maxOfIterations) {
    throw new ServiceError("invalid_argument", `settings.max_iterations must be between 0 and ${maxOfIterations}.`);
  }
  const backend =
    wire.backend === Backend.UNSPECIFIED ? current.backend : keyOf(backends, wire.backend, "settings.backend");
  // A model name or URL belongs to its backend: another backend does not inherit them.
  const inherited = backend === current.backend ? current : { model: "", baseUrl: "" };
  return {
    backend,
    model: wire.model === "" ? inherited.model : wire.model,
    baseUrl: wire.baseUrl === "" ? inherited.baseUrl : httpUrl(wire.baseUrl),
    maxTokens: wire.maxTokens === 0 ? current.maxTokens : wire.maxTokens,
    maxIterations: wire.maxIterations === 0 ? current.maxIterations : wire.maxIterations,
    editingMode:
      wire.editingMode === EditingMode.UNSPECIFIED
        ? current.editingMode
        : keyOf(modes, wire.editingMode, "settings.editing_mode"),
    verbosity:
      wire.verbosity === Verbosity.UNSPECIFIED
        ? current.verbosity
        : keyOf(verbosities, wire.verbosity, "settings.verbosity"),
    interactive,
    limits: limitsFromWire(wire, current.limits ?? noLimits),
  };
}

function limitsFromWire(wire: Settings, current: SessionLimits): SessionLimits {
  const { maxContextTokens, maxSessionTokens, maxTurnTokens, maxCost } = wire;
  return {
    maxContextTokens: limit("max_context_tokens", maxContextTokens, current.maxContextTokens),
    maxSessionTokens: limit("max_session_tokens", maxSessionTokens, current.maxSessionTokens),
    maxTurnTokens: limit("max_turn_tokens", maxTurnTokens, current.maxTurnTokens),
    maxCost: limit("max_cost", maxCost, current.maxCost),
  };
}

function limit(name: string, asked: number | bigint | undefined, current: number): number {
  const value = asked === undefined ? current : Number(asked);
  if (value >= 0 && value <= Number.MAX_SAFE_INTEGER) return value;
  throw new ServiceError("invalid_argument", `settings.${name} cannot be negative or beyond 2^53.`);
}

export function settingsToWire(settings: SessionSettings, workingDir: string) {
  const { model, baseUrl, maxTokens, maxIterations, limits = noLimits } = settings;
  return {
    backend: backends[settings.backend],
    model,
    baseUrl,
    maxTokens,
    maxIterations,
    workingDir,
    editingMode: modes[settings.editingMode],
    verbosity: verbosities[settings.verbosity],
    maxContextTokens: limits.maxContextTokens,
    maxSessionTokens: BigInt(limits.maxSessionTokens),
    maxTurnTokens: BigInt(limits.maxTurnTokens),
    maxCost: limits.maxCost,
  };
}

export function editingModeToWire(mode: SessionSettings["editingMode"]): EditingMode {
  return modes[mode];
}

export function capabilitiesToWire(capabilities: ModelCapabilities) {
  return { ...capabilities };
}

function httpUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw new ServiceError("invalid_argument", "settings.base_url must be an http or https URL.");
  }
  if (url.username !== "" || url.password !== "") {
    throw new ServiceError(
      "invalid_argument",
      "settings.base_url must not hold credentials; keys come from the environment.",
    );
  }
  return text;
}
