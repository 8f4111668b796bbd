import type { Effort } from "@gennai/protocol/model/session/effort";
import type { Usage } from "./usage.ts";

/** A language model, as the turn loop uses it. Providers are in the server; the loop knows only this interface. */
export interface Model {
  /** The id shown and recorded, e.g. `openai-compatible/qwen3`. */
  readonly id: string;
  readonly capabilities: ModelCapabilities;
  /** Tokens the model can take; 0 when unknown. */
  readonly maxContextTokens: number;
  /**
   * Asks the provider for its context size, if it can be asked: once, for a few seconds, or as long as it loads the model. Afterwards
   * `maxContextTokens` has it, if the provider said.
   */
  findContextTokens?(options: { readonly signal: AbortSignal }): Promise<void>;
  /** Streams one answer. Ends with `finish` or throws `ModelError`; ends promptly when the signal aborts. */
  stream(request: ModelRequest, options: { readonly signal: AbortSignal }): AsyncIterable<ModelEvent>;
}

export interface ModelCapabilities {
  readonly toolCalling: boolean;
  readonly thinking: boolean;
  readonly vision: boolean;
  readonly structuredOutput: boolean;
  /** A request of another effort is not read from the provider's cache. */
  readonly effortInCache?: true;
}

export interface ModelRequest {
  readonly system: string;
  readonly messages: readonly Message[];
  readonly tools: readonly ToolDefinition[];
  readonly enableThinking: boolean;
  /** How hard to think, if thinking is on; absent: the provider's default. */
  readonly effort?: Effort;
  /** 0: the provider's default. */
  readonly maxOutputTokens: number;
  /** The same for all requests of one conversation, so that a provider routes them to the cached beginning. */
  readonly cacheKey?: string;
}

export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly inputSchema: Record<string, unknown>;
}

export type Message =
  | {
      readonly role: "user";
      /** Only what the user wrote. */
      readonly text: string;
      /** What the server added: mentioned files, the state of the editor. Data, never the user's words. */
      readonly attached?: string;
      readonly images?: readonly Uint8Array[];
    }
  /**
   * A message from the server about the session: a review, an undo, what a compaction kept. Providers send it as a user
   * message.
   */
  | {
      readonly role: "note";
      readonly text: string;
      /** The note asks for nothing: the model continues its work. */
      readonly aside?: true;
    }
  | {
      readonly role: "assistant";
      readonly text: string;
      readonly toolCalls: readonly MessageCall[];
    }
  | {
      readonly role: "tool";
      readonly id: string;
      readonly name: string;
      readonly output: string;
      readonly isError: boolean;
      /** Shown after the output; none with an error. */
      readonly images?: readonly Uint8Array[];
    };

/** True for a message that the model must answer. */
export function asks(message: Message): message is Extract<Message, { readonly role: "user" | "note" }> {
  return message.role === "user" || (message.role === "note" && message.aside !== true);
}

/** The full text of a message from the user's side, as sent to a provider. */
export function userSideText(message: Extract<Message, { readonly role: "user" | "note" }>): string {
  if (message.role === "note" || message.attached === undefined) return message.text;
  return message.text === "" ? message.attached : `${message.text}\n\n${message.attached}`;
}

/** A call as the model made it. */
export interface MessageCall {
  readonly id: string;
  readonly name: string;
  readonly argumentsJson: string;
  readonly providerState?: ProviderState;
}

/** Data that the provider wants back with a call in later requests. It may be lost: the model can continue without it. */
export interface ProviderState {
  /** The thinking that led to the call, unmasked: kept only if it contains nothing to mask. */
  readonly thinking: string;
  /** JSON that only the same model reads, e.g. signatures. Contains nothing that the model was told. */
  readonly opaque: string;
}

/**
 * `length`: cut at the output limit. `content-filter`: the provider or the model refused. `pause`: continues if asked
 * again. `malformed`: a tool call that cannot be parsed.
 */
export type FinishReason = "stop" | "tool-calls" | "length" | "content-filter" | "pause" | "malformed" | "other";

export type ModelEvent =
  | { readonly type: "thinking-delta"; readonly text: string }
  | { readonly type: "text-delta"; readonly text: string }
  | { readonly type: "tool-call-start"; readonly id: string; readonly name: string }
  | { readonly type: "tool-call-delta"; readonly id: string; readonly text: string }
  /** The complete call; it replaces the deltas. */
  | ({ readonly type: "tool-call" } & MessageCall)
  | ({ readonly type: "usage" } & Usage)
  /** The provider is asked again at `until`, milliseconds since the epoch; `problem` is why, `reason` says both. */
  | { readonly type: "waiting"; readonly until: number; readonly problem: string; readonly reason: string }
  /** The answer broke off and is requested again: everything received so far is discarded. */
  | { readonly type: "restart"; readonly reason: string }
  | {
      readonly type: "finish";
      readonly reason: FinishReason;
      /** The model that answered, as the provider names it; undefined if it does not say. */
      readonly responseModel?: string;
    };

export type ModelErrorCode =
  | "unreachable"
  | "unauthorized"
  | "rate_limited"
  | "context_overflow"
  | "bad_response"
  | "not_configured"
  | "script_exhausted";

/** Why a model gave no answer, and what to do about it. */
export class ModelError extends Error {
  readonly code: ModelErrorCode;
  readonly hint: string | undefined;
  readonly retryable: boolean;

  constructor(
    code: ModelErrorCode,
    message: string,
    options: { readonly hint?: string; readonly retryable?: boolean; readonly cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = "ModelError";
    this.code = code;
    this.hint = options.hint;
    this.retryable = options.retryable ?? false;
  }
}
