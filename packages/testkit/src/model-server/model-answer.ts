/** What a model says in one answer, no matter which protocol carries it. */
export interface ModelAnswer {
  readonly thinking?: readonly string[];
  /** What the provider wants back with the thinking, opaque to everybody else. */
  readonly signature?: string;
  readonly text?: readonly string[];
  readonly calls?: readonly AnswerCall[];
  /** Breaks the connection after this many frames. */
  readonly dieAfter?: number;
  /** Ends the stream after this many frames, as if that were all. */
  readonly endAfter?: number;
  /** Why the answer ended, in the provider's own word; by default that it is done, or calls. */
  readonly finish?: string;
  /** Tokens it claims to have cost; the usual ones where it does not say. */
  readonly usage?: { readonly inputTokens: number; readonly outputTokens: number };
  /** An error in the middle of the stream, in the provider's own form. */
  readonly error?: Readonly<Record<string, unknown>>;
}

export interface AnswerCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** As it goes over the wire, in place of the arguments: half a call, or no JSON at all. */
  readonly raw?: string;
  /** Of a tool that takes text in place of arguments, where the protocol has such. */
  readonly input?: string;
}

/** An answer without content: the provider is busy, broken, or refuses. */
export interface ModelRefusal {
  readonly status: number;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** In place of what the wire makes of the message. */
  readonly body?: string;
}

/** A protocol that model providers speak: how an answer looks on it. */
export interface ModelWire {
  /** What clients put behind the server's address. */
  readonly basePath: string;
  /** Frames of server-sent events, as text. */
  frames(answer: ModelAnswer): Generator<string>;
  refusal(refusal: ModelRefusal): string;
}

/** Tokens every answer claims to have cost. */
export const answerUsage = { inputTokens: 120, outputTokens: 30 };

export function frame(data: unknown, event?: string): string {
  return `${event === undefined ? "" : `event: ${event}\n`}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;
}

export function argumentsText(call: AnswerCall): string {
  return call.raw ?? JSON.stringify(call.arguments);
}

/** Two pieces, so that nobody relies on whole arguments in one. */
export function halves(text: string): readonly string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter((piece) => piece !== "");
}
