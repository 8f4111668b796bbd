import type { Effort } from "@gennai/protocol/model/session/effort";
import type { Usage } from "./use/usage.ts";

/** What the turn loop asks of a language model. Providers live in the server; the loop knows only this. */
export interface Model {
  /** As shown and recorded, e.g. `openai-compatible/qwen3`. */
  readonly id: string;
  readonly capabilities: ModelCapabilities;
  /** Tokens the model can take; 0 when unknown. */
  readonly maxContextTokens: number;
  /** Asks the server for them, where it can be asked: for a few seconds at most, and once. From then on they are known, if it says. */
  findContextTokens?(): Promise<void>;
  /** One answer. Ends with `finish`, or throws `ModelError`; ends promptly when the signal aborts. */
  stream(request: ModelRequest, options: { readonly signal: AbortSignal }): AsyncIterable<ModelEvent>;
}

export interface ModelCapabilities {
  readonly toolCalling: boolean;
  readonly thinking: boolean;
  readonly vision: boolean;
  readonly structuredOutput: boolean;
}

export interface ModelRequest {
  readonly system: string;
  readonly messages: readonly Message[];
  readonly tools: readonly ToolDefinition[];
  readonly enableThinking: boolean;
  /** How hard to think, where thinking is on; absent: as is usual with the provider. */
  readonly effort?: Effort;
  /** 0: the provider's default. */
  readonly maxOutputTokens: number;
  /** The same for all requests of one conversation, so that a provider sends them to where its beginning is cached. */
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
      /** What the user wrote, and nothing else. */
      readonly text: string;
      /** What the server fetched for it: mentioned files, what the editor shows. Material, never the user's words. */
      readonly attached?: string;
      readonly images?: readonly Uint8Array[];
    }
  /** What the server says about the session: a review, an undo, what a compaction kept. Providers hand it over as the user's. */
  | {
      readonly role: "note";
      readonly text: string;
      /** It asks for nothing by itself: the model goes on with what it does. */
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
      /** Shown behind the output; none with an error. */
      readonly images?: readonly Uint8Array[];
    };

/** True for what an answer is an answer to. */
export function asks(message: Message): message is Extract<Message, { readonly role: "user" | "note" }> {
  return message.role === "user" || (message.role === "note" && message.aside !== true);
}

/** All the text of a message from the user's side, as a provider gets it. */
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

/** What the provider wants back with a call in later requests. It may be lost: a model goes on without. */
export interface ProviderState {
  /** The thinking that led to the call, unmasked: it is kept only when there is nothing in it to mask. */
  readonly thinking: string;
  /** JSON that only the model that wrote it reads, e.g. signatures. Holds nothing of what the model was told. */
  readonly opaque: string;
}

/**
 * `length`: cut at the output limit. `content-filter`: the provider or the model refused. `pause`: it goes on when asked again.
 * `malformed`: it meant to call a tool, and wrote what cannot be read.
 */
export type FinishReason = "stop" | "tool-calls" | "length" | "content-filter" | "pause" | "malformed" | "other";

export type ModelEvent =
  | { readonly type: "thinking-delta"; readonly text: string }
  | { readonly type: "text-delta"; readonly text: string }
  | { readonly type: "tool-call-start"; readonly id: string; readonly name: string }
  | { readonly type: "tool-call-delta"; readonly id: string; readonly text: string }
  /** Authoritative: the whole call. */
  | ({ readonly type: "tool-call" } & MessageCall)
  | ({ readonly type: "usage" } & Usage)
  /** The provider is asked again at that time, milliseconds since the epoch; `problem` is why, `reason` says both. */
  | { readonly type: "waiting"; readonly until: number; readonly problem: string; readonly reason: string }
  /** The answer broke off and is asked for again: all of it until here counts for nothing. */
  | { readonly type: "restart"; readonly reason: string }
  | {
      readonly type: "finish";
      readonly reason: FinishReason;
      /** The model that answered, as the provider names it; undefined when it does not say. */
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

/** Why a model gave no answer, with what to do about it. */
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
