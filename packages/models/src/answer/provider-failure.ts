import { ModelError } from "@gennai/agent/model";
import { saysOverflow } from "../request/overflow-words.ts";
import { toldReason } from "./told-reason.ts";

/** What a provider's refusal or a broken connection comes down to. */
export interface ProviderFailure {
  readonly error: ModelError;
  /** It passes by itself: worth another try. */
  readonly transient: boolean;
  /** Milliseconds the provider asked to wait. */
  readonly retryAfter: number | undefined;
  /** The stream ended before the answer did. */
  readonly cut?: true;
  /** Nothing was heard for too long. */
  readonly silent?: true;
  /** Something in the stream could not be read: it may be so each time. */
  readonly damaged?: true;
  /** No connection came to be. */
  readonly nobodyThere?: boolean;
}

export interface FailureContext {
  /** As shown, without credentials. */
  readonly baseUrl: string;
  readonly model: string;
  /** Must never be in a message; empty if there is none. */
  readonly apiKey: string;
  /** Milliseconds since the epoch, for a `Retry-After` that is a date. */
  readonly now: number;
}

const networkHints: Readonly<Record<string, string>> = {
  ECONNREFUSED: "Is the server running, and is the port right? For Ollama: `ollama serve`.",
  ENOTFOUND: "The host name does not resolve; check the address of the model.",
  EAI_AGAIN: "The host name does not resolve right now; check the network.",
  ECONNRESET: "The server closed the connection; try again.",
  EPIPE: "The server closed the connection; try again.",
  ETIMEDOUT: "The server did not answer in time; check the network or a proxy.",
  UND_ERR_CONNECT_TIMEOUT: "The server did not answer in time; check the network or a proxy.",
  UND_ERR_HEADERS_TIMEOUT: "The server did not start to answer in time; a smaller or already loaded model may help.",
  UND_ERR_BODY_TIMEOUT: "The server fell silent in the middle of an answer; try again.",
  UND_ERR_SOCKET: "The server closed the connection in the middle; try again.",
  CERT_HAS_EXPIRED: "The server's certificate has expired.",
};
/** Of OpenSSL and of Node: https://nodejs.org/api/tls.html#x509-certificate-error-codes */
const untrusted = /CERT|SELF_SIGNED|UNABLE_TO_/;
const untrustedHint =
  "The server's certificate is not trusted here. Add that of its authority (a company's proxy has one) to NODE_EXTRA_CA_CERTS.";

/** An answer that had begun well, and what happened to it. */
export class BrokenAnswer extends Error {
  readonly failure: ProviderFailure;

  constructor(failure: ProviderFailure) {
    super(failure.error.message);
    this.failure = failure;
  }
}

/** Reads whatever the provider library or `fetch` threw. */
export function providerFailure(thrown: unknown, context: FailureContext): ProviderFailure {
  if (thrown instanceof BrokenAnswer) return thrown.failure;
  // The libraries wrap what reading an answer threw.
  const own = thrown instanceof ModelError ? thrown : field(thrown, "cause");
  if (own instanceof ModelError) return { error: own, transient: false, retryAfter: undefined };
  const status = numberField(thrown, "statusCode");
  if (status !== undefined && status >= 300) return statusFailure(thrown, status, context);
  const network = networkCode(thrown);
  if (network !== undefined) {
    const hint =
      networkHints[network] ??
      (untrusted.test(network) ? untrustedHint : "Check the network, a proxy, and the address of the model.");
    const error = new ModelError("unreachable", `No answer from ${context.baseUrl} (${network}).`, {
      hint,
      retryable: true,
    });
    const nobodyThere = /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH)$/.test(network);
    return { error, transient: !untrusted.test(network), retryAfter: undefined, nobodyThere };
  }
  const detail = clean(messageOf(thrown), context);
  const error = new ModelError("bad_response", `${context.baseUrl} sent an answer that could not be read: ${detail}`, {
    hint: protocolHint,
    retryable: true,
  });
  return { error, transient: false, retryAfter: undefined };
}

/** What a server says that does not take the request as it is. */
export interface Refusal {
  readonly text: string;
  /** It may also have broken. llama.cpp says so where a template takes no such conversation. */
  readonly isFault: boolean;
}

/** Undefined for any other failure. Routers also refuse with 404, when no server behind them takes the request. */
export function refusalOf(thrown: unknown): Refusal | undefined {
  const status = numberField(thrown, "statusCode");
  if (status === undefined || ![400, 404, 415, 422, 500].includes(status)) return undefined;
  return { text: `${messageOf(thrown)} ${stringField(thrown, "responseBody") ?? ""}`, isFault: status === 500 };
}

/** An error object inside a stream that had begun well. */
export function errorInStream(reported: unknown, context: FailureContext): ProviderFailure {
  // So one of the libraries says that the stream ended too early.
  if (reported instanceof Error && reported.message.includes("without a finish reason")) return cutAnswer(context);
  // A frame that was damaged on its way, as a stream that is cut is.
  if (reported instanceof Error && reported.name === "AI_JSONParseError")
    return { ...cutAnswer(context), damaged: true };
  // An error in another form than the format's own; the library found no answer in it.
  const told = reported instanceof Error ? field(field(reported, "value"), "error") : undefined;
  if (told !== undefined && told !== null) {
    return errorInStream(typeof told === "string" ? { message: told } : told, context);
  }
  // The connection that broke, or JSON that is not an answer.
  if (reported instanceof Error) return providerFailure(reported, context);
  const detail = clean(messageOf(reported), context);
  const kind = `${stringField(reported, "type") ?? ""} ${stringField(reported, "code") ?? ""} ${numberField(reported, "code") ?? ""}`;
  if (saysOverflow(`${detail} ${kind}`)) return final(overflow(detail));
  if (/rate_limit|\b429\b|overloaded/i.test(kind)) {
    const error = new ModelError("rate_limited", `The provider is busy: ${detail}`, {
      hint: "Wait a little, then try again.",
      retryable: true,
    });
    return { error, transient: true, retryAfter: waitInWords(detail) };
  }
  const error = new ModelError("bad_response", `The provider broke off its answer: ${detail}`, {
    hint: "Try again; the server's log may say more.",
    retryable: true,
  });
  const itsOwnFault = /server_error|api_error|internal|timeout|unavailable|\b5\d\d\b/i.test(kind);
  return { error, transient: itsOwnFault, retryAfter: undefined };
}

/** A stream that ended before the answer did. */
export function cutAnswer({ baseUrl }: FailureContext): ProviderFailure {
  const error = new ModelError("unreachable", `${baseUrl} broke off in the middle of its answer.`, {
    hint: "Try again.",
    retryable: true,
  });
  return { error, transient: true, retryAfter: undefined, cut: true };
}

/** A stream that ended before anything was said: nobody there may speak the protocol. */
export function noAnswer({ baseUrl }: FailureContext): ProviderFailure {
  return final(
    new ModelError("bad_response", `${baseUrl} sent no answer that can be read.`, {
      hint: protocolHint,
      retryable: true,
    }),
  );
}

const protocolHint =
  "Check that --base-url is the chat-completions root (it mostly ends in /v1), and the server's log.";

function final(error: ModelError): ProviderFailure {
  return { error, transient: false, retryAfter: undefined };
}

function statusFailure(thrown: unknown, status: number, context: FailureContext): ProviderFailure {
  const body = stringField(thrown, "responseBody") ?? "";
  const detail = clean(toldInBody(body) || messageOf(thrown), context);
  const headers = field(thrown, "responseHeaders");
  const retryAfter = retryAfterOf(headers, context.now) ?? retryDelayIn(body) ?? waitInWords(detail);
  if (status === 401 || status === 403) {
    return final(
      new ModelError("unauthorized", `${context.baseUrl} refused the credentials (HTTP ${status}): ${detail}`, {
        hint:
          context.apiKey === ""
            ? "No key is set. Set it where you choose the model, or in the server's environment as GENNAI_API_KEY."
            : "Check the key, and that it may use this model.",
      }),
    );
  }
  if (status === 402) {
    return final(
      new ModelError("unauthorized", `${context.baseUrl} asks for payment (HTTP 402): ${detail}`, {
        hint: "Look at the account's balance with the provider, or use another model.",
      }),
    );
  }
  if (status === 404) {
    return final(
      new ModelError(
        "not_configured",
        `${context.baseUrl} does not know the model "${context.model}" or the path (HTTP 404): ${detail}`,
        {
          hint: "Check the name of the model (for Ollama: `ollama list`). Check its address too: it mostly ends in /v1.",
        },
      ),
    );
  }
  // Ollama and some gateways call it a fault of their own.
  if (status === 413 || ([400, 422, 500].includes(status) && saysOverflow(`${detail} ${body}`)))
    return final(overflow(detail));
  if (status === 429) {
    const wait = retryAfter === undefined ? "Wait a little" : `Wait ${Math.ceil(retryAfter / 1000)} s`;
    const error = new ModelError("rate_limited", `The provider's limit is reached (HTTP 429): ${detail}`, {
      hint: `${wait}, then try again; or check the account's quota.`,
      retryable: true,
    });
    return { error, transient: !isSpent(`${detail} ${body}`, retryAfter), retryAfter };
  }
  if (status >= 500 || busyStatuses.has(status)) {
    const error = new ModelError("unreachable", `${context.baseUrl} failed (HTTP ${status}): ${detail}`, {
      hint: "The fault is on the provider's side: try again later.",
      retryable: true,
    });
    return { error, transient: stringField(headers, "x-should-retry") !== "false", retryAfter };
  }
  return final(
    new ModelError("bad_response", `${context.baseUrl} refused the request (HTTP ${status}): ${detail}`, {
      hint: "Some models take no tools or no images; try another model, or see the server's log.",
    }),
  );
}

function overflow(detail: string): ModelError {
  return new ModelError("context_overflow", `The conversation is too long for this model: ${detail}`, {
    hint: "Clear the session or use a model with a larger context.",
  });
}

/** Timeouts and conflicts of the provider's own, which its libraries ask again for, too. */
const busyStatuses: ReadonlySet<number> = new Set([408, 409, 425]);

/** No wait helps: the account's money, or the day's share. Google names both in words also where a minute is enough. */
function isSpent(text: string, retryAfter: number | undefined): boolean {
  return /insufficient_quota|PerDay/i.test(text) || (retryAfter === undefined && /billing|credit balance/i.test(text));
}

/** Google's RetryInfo, in milliseconds. */
function retryDelayIn(body: string): number | undefined {
  const found = /"retryDelay":\s*"(\d+(?:\.\d+)?)s"/.exec(body)?.[1];
  return found === undefined ? undefined : Number(found) * 1_000;
}

/** OpenAI says it in words, e.g. "Please try again in 20s." or "in 350ms". */
function waitInWords(text: string): number | undefined {
  const [, amount, unit] = /try again in (\d+(?:\.\d+)?)\s*(ms|s|m)\b/i.exec(text) ?? [];
  if (amount === undefined) return undefined;
  return Number(amount) * (unit === "ms" ? 1 : unit === "m" ? 60_000 : 1_000);
}

/** `Retry-After` in seconds or as a date, or the finer `retry-after-ms`; in milliseconds. */
function retryAfterOf(headers: unknown, now: number): number | undefined {
  const milliseconds = Number(stringField(headers, "retry-after-ms")?.trim() || Number.NaN);
  if (milliseconds >= 0) return milliseconds;
  const written = stringField(headers, "retry-after")?.trim() ?? "";
  if (written === "") return undefined;
  const seconds = Number(written);
  if (seconds >= 0) return seconds * 1000;
  const date = Date.parse(written);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** One line, at most 300 characters, without the key. */
function clean(text: string, context: FailureContext): string {
  const hidden = context.apiKey === "" ? text : text.replaceAll(context.apiKey, "[API key]");
  // Some providers quote the key back, shortened.
  const masked = hidden.replaceAll(/\b(sk|key|pk)-[A-Za-z0-9_*.-]{6,}/g, "[API key]");
  const line = masked.replaceAll(/\s+/g, " ").trim();
  return line.length > 300 ? `${line.slice(0, 299)}…` : line;
}

/** The system's code of a failed connection, wherever in the chain of causes it is. */
export function networkCode(thrown: unknown): string | undefined {
  let current = thrown;
  for (let depth = 0; depth < 6 && current !== undefined; depth += 1) {
    const code = stringField(current, "code");
    if (
      code !== undefined &&
      /^(E(?!RR_)[A-Z_]+|ERR_TLS_[A-Z_]+|UND_ERR_[A-Z_]+|CERT_[A-Z_]+|UNABLE_TO_[A-Z_]+|[A-Z_]*SELF_SIGNED[A-Z_]*)$/.test(
        code,
      )
    )
      return code;
    if (current instanceof TypeError && current.message === "terminated") return "UND_ERR_SOCKET";
    const errors = field(current, "errors");
    current = Array.isArray(errors) && errors.length > 0 ? errors[0] : field(current, "cause");
  }
  return undefined;
}

function messageOf(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message || "no reason given";
  return toldReason(thrown) || "no reason given";
}

/** Pages of gateways, and other texts, say nothing that fits into a line. */
function toldInBody(body: string): string {
  const told = toldReason(body);
  return told === body ? "" : told;
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
}

function stringField(value: unknown, name: string): string | undefined {
  const found = field(value, name);
  return typeof found === "string" ? found : undefined;
}

function numberField(value: unknown, name: string): number | undefined {
  const found = field(value, name);
  return typeof found === "number" ? found : undefined;
}
