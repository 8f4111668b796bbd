import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  Backend as BackendMessage,
  EditingMode as EditingModeMessage,
  type Settings,
  type SettingsSchema,
  Verbosity as VerbosityMessage,
} from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";

export const backends = [
  "offline",
  "scripted",
  "openai-compatible",
  "ollama",
  "openai",
  "anthropic",
  "gemini",
  "editor",
] as const;

export type Backend = (typeof backends)[number];

/** `branch`: the agent writes on a feature branch. `proposal`: nothing is written, changes are proposed. */
export type EditingMode = "branch" | "proposal";

export const verbosities = ["terse", "normal", "detailed"] as const;

/** How much the agent writes. It changes no permission. */
export type Verbosity = (typeof verbosities)[number];

/** What a session shall run with; what is left out is the server's default. */
export interface SettingsChoice {
  readonly backend?: Backend;
  readonly model?: string;
  readonly baseUrl?: string;
  readonly maxTokens?: number;
  /** Model calls a turn may take. */
  readonly maxIterations?: number;
  /** Absolute path of the workspace; fixed once the session has started. */
  readonly workingDir?: string;
  readonly editingMode?: EditingMode;
  readonly verbosity?: Verbosity;
  /** Tokens the model can take. 0 takes a limit away, here and below; left out, it stays. */
  readonly maxContextTokens?: number;
  /** Tokens in and out over all turns of the session, sub-agents included. */
  readonly maxSessionTokens?: number;
  /** The same over one turn. */
  readonly maxTurnTokens?: number;
  /** In the currency of the prices that the user wrote down. */
  readonly maxCost?: number;
}

/** What a session runs with. */
export interface SessionSettings {
  /** undefined: a backend that this client does not know. */
  readonly backend: Backend | undefined;
  readonly model: string;
  readonly baseUrl: string;
  readonly maxTokens: number;
  readonly maxIterations: number;
  readonly workingDir: string;
  readonly editingMode: EditingMode;
  readonly verbosity: Verbosity;
  /** 0, here and below: no limit. */
  readonly maxContextTokens: number;
  readonly maxSessionTokens: number;
  readonly maxTurnTokens: number;
  readonly maxCost: number;
}

export function settingsFields(choice: SettingsChoice): MessageInitShape<typeof SettingsSchema> {
  return {
    backend: choice.backend === undefined ? BackendMessage.UNSPECIFIED : backendMessages[choice.backend],
    model: choice.model ?? "",
    baseUrl: choice.baseUrl ?? "",
    maxTokens: choice.maxTokens ?? 0,
    maxIterations: choice.maxIterations ?? 0,
    workingDir: choice.workingDir ?? "",
    editingMode: choice.editingMode === undefined ? EditingModeMessage.UNSPECIFIED : modeMessages[choice.editingMode],
    verbosity: choice.verbosity === undefined ? VerbosityMessage.UNSPECIFIED : verbosityMessages[choice.verbosity],
    ...(choice.maxContextTokens === undefined ? {} : { maxContextTokens: choice.maxContextTokens }),
    ...(choice.maxSessionTokens === undefined ? {} : { maxSessionTokens: BigInt(choice.maxSessionTokens) }),
    ...(choice.maxTurnTokens === undefined ? {} : { maxTurnTokens: BigInt(choice.maxTurnTokens) }),
    ...(choice.maxCost === undefined ? {} : { maxCost: choice.maxCost }),
  };
}

export function settingsFromMessage(message: Settings | undefined): SessionSettings {
  return {
    backend: backends.find((backend) => backendMessages[backend] === message?.backend),
    model: message?.model ?? "",
    baseUrl: message?.baseUrl ?? "",
    maxTokens: message?.maxTokens ?? 0,
    maxIterations: message?.maxIterations ?? 0,
    workingDir: message?.workingDir ?? "",
    editingMode: editingModeFromMessage(message?.editingMode),
    verbosity: verbosities.find((verbosity) => verbosityMessages[verbosity] === message?.verbosity) ?? "normal",
    maxContextTokens: message?.maxContextTokens ?? 0,
    maxSessionTokens: Number(message?.maxSessionTokens ?? 0n),
    maxTurnTokens: Number(message?.maxTurnTokens ?? 0n),
    maxCost: message?.maxCost ?? 0,
  };
}

function editingModeFromMessage(mode: EditingModeMessage | undefined): EditingMode {
  return mode === EditingModeMessage.PROPOSAL ? "proposal" : "branch";
}

const backendMessages: Record<Backend, BackendMessage> = {
  offline: BackendMessage.OFFLINE,
  scripted: BackendMessage.SCRIPTED,
  "openai-compatible": BackendMessage.OPENAI_COMPATIBLE,
  ollama: BackendMessage.OLLAMA,
  openai: BackendMessage.OPENAI,
  anthropic: BackendMessage.ANTHROPIC,
  gemini: BackendMessage.GEMINI,
  editor: BackendMessage.EDITOR,
};

const modeMessages: Record<EditingMode, EditingModeMessage> = {
  branch: EditingModeMessage.BRANCH,
  proposal: EditingModeMessage.PROPOSAL,
};

const verbosityMessages: Record<Verbosity, VerbosityMessage> = {
  terse: VerbosityMessage.TERSE,
  normal: VerbosityMessage.NORMAL,
  detailed: VerbosityMessage.DETAILED,
};
