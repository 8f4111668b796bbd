import { ModelError } from "@gennai/agent/model";

/** What a provider's refusal or a broken connection comes down to. */
export interface ProviderFailure {
  readonly error: ModelError;
  /** Worth another try before the first token. */
  readonly transient: boolean;
  /** Milliseconds the provider asked to wait. */
  readonly retryAfter: number | undefined;
}

export interface FailureContext {
  /** As shown, without credentials. */
  readonly baseUrl: string;
  readonly model: string;
  /** Must never be in a message; empty when there is none. */
  readonly apiKey: string;
  /** Milliseconds since the epoch, for a `Retry-After` that is a date. */
  readonly now: number;
}

const networkHints: Readonly<Record<string, string>> = {
  ECONNREFUSED: "Is the server running, and is the port right? For Ollama: `ollama serve`.",
  ENOTFOUND: "The host name does not resolve; check --base-url.",
  EAI_AGAIN: "The host name does not resolve right now; check the network.",
  ECONNRESET: "The server closed the connection; try again.",
  EPIPE: "The server closed the connection; try again.",
  ETIMEDOUT: "The server did not answer in time; check the network or a proxy.",
  UND_ERR_CONNECT_TIMEOUT: "The server did not answer in time; check the network or a proxy.",
  UND_ERR_HEADERS_TIMEOUT: "The server did not start to answer in time; a smaller or already loaded model may help.",
  UND_ERR_BODY_TIMEOUT: "The server fell silent in the middle of an answer; try again.",
  UND_ERR_SOCKET: "The server closed the connection in the middle; try again.",
  CERT_HAS_EXPIRED: "The server's certificate has expired.",
  DEPTH_ZERO_SELF_SIGNED_CERT: "The server's certificate is self-signed; add it to NODE_EXTRA_CA_CERTS.",
  SELF_SIGNED_CERT_IN_CHAIN: "The certificate chain is self-signed; add its root to NODE_EXTRA_CA_CERTS.",
};
/** The server was there and hung up. */
const droppedCodes: ReadonlySet<string> = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);
const overflowWords =
  /context[_ ](length|window|size)|maximum context|too many tokens|prompt is too long|exceeds? the (model's )?context/i;

/** Reads whatever the provider library or `fetch` threw. */
export function providerFailure(thrown: unknown, context: FailureContext): ProviderFailure {
  if (thrown instanceof ModelError) return { error: thrown, transient: false, retryAfter: undefined };
  const status = numberField(thrown, "statusCode");
  if (status !== undefined && status >= 300) return statusFailure(thrown, status, context);
  const network = networkCode(thrown);
  if (network !== undefined) {
    const hint = networkHints[network] ?? "Check the network and --base-url.";
    const error = new ModelError("unreachable", `No answer from ${context.baseUrl} (${network}).`, {
      hint,
      retryable: true,
    });
    return { error, transient: droppedCodes.has(network), retryAfter: undefined };
  }
  const detail = clean(messageOf(thrown), context);
  const error = new ModelError("bad_response", `${context.baseUrl} sent an answer that could not be read: ${detail}`, {
    hint: "Check that --base-url is the chat-completions root (it mostly ends in /v1), and the server's log.",
    retryable: true,
  });
  return { error, transient: false, retryAfter: undefined };
}

/** An error object inside a stream that had begun well. */
export function errorInStream(reported: unknown, context: FailureContext): ModelError {
  // The connection that broke, or JSON that could not be parsed.
  if (reported instanceof Error) return providerFailure(reported, context).error;
  const detail = clean(messageOf(reported), context);
  if (overflowWords.test(detail)) return overflow(detail);
  const kind = `${stringField(reported, "type") ?? ""} ${stringField(reported, "code") ?? ""} ${numberField(reported, "code") ?? ""}`;
  if (/rate_limit|\b429\b|overloaded/i.test(kind)) {
    return new ModelError("rate_limited", `The provider is busy: ${detail}`, {
      hint: "Wait a little, then try again.",
      retryable: true,
    });
  }
  return new ModelError("bad_response", `The provider broke off its answer: ${detail}`, {
    hint: "Try again; the server's log may say more.",
    retryable: true,
  });
}

function statusFailure(thrown: unknown, status: number, context: FailureContext): ProviderFailure {
  const detail = clean(messageOf(thrown), context);
  const body = stringField(thrown, "responseBody") ?? "";
  const retryAfter = retryAfterOf(field(thrown, "responseHeaders"), context.now);
  const final = (error: ModelError): ProviderFailure => ({ error, transient: false, retryAfter: undefined });
  if (status === 401 || status === 403) {
    return final(
      new ModelError("unauthorized", `${context.baseUrl} refused the credentials (HTTP ${status}): ${detail}`, {
        hint:
          context.apiKey === ""
            ? "No key is set: put it into the environment variable GENNAI_API_KEY."
            : "Check the key in GENNAI_API_KEY (or OPENAI_API_KEY) and that it may use this model.",
      }),
    );
  }
  if (status === 404) {
    return final(
      new ModelError(
        "not_configured",
        `${context.baseUrl} does not know the model "${context.model}" or the path (HTTP 404): ${detail}`,
        {
          hint: "Check --model (for Ollama: `ollama list`), and that --base-url is the chat-completions root (it mostly ends in /v1).",
        },
      ),
    );
  }
  if (status === 413 || ((status === 400 || status === 422) && overflowWords.test(`${detail} ${body}`)))
    return final(overflow(detail));
  if (status === 429) {
    const wait = retryAfter === undefined ? "Wait a little" : `Wait ${Math.ceil(retryAfter / 1000)} s`;
    const error = new ModelError("rate_limited", `The provider's limit is reached (HTTP 429): ${detail}`, {
      hint: `${wait}, then try again; or check the account's quota.`,
      retryable: true,
    });
    return { error, transient: !/insufficient_quota/i.test(body), retryAfter };
  }
  if (status >= 500) {
    const error = new ModelError("unreachable", `${context.baseUrl} failed (HTTP ${status}): ${detail}`, {
      hint: "The fault is on the provider's side: try again later.",
      retryable: true,
    });
    return { error, transient: true, retryAfter };
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

/** `Retry-After` in seconds or as a date, or the finer `retry-after-ms`; in milliseconds. */
function retryAfterOf(headers: unknown, now: number): number | undefined {
  const milliseconds = Number(stringField(headers, "retry-after-ms") ?? Number.NaN);
  if (milliseconds >= 0) return milliseconds;
  const written = stringField(headers, "retry-after");
  if (written === undefined) return undefined;
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
function networkCode(thrown: unknown): string | undefined {
  let current = thrown;
  for (let depth = 0; depth < 6 && current !== undefined; depth += 1) {
    const code = stringField(current, "code");
    if (code !== undefined && /^(E[A-Z_]+|UND_ERR_[A-Z_]+|CERT_[A-Z_]+|[A-Z_]*SELF_SIGNED[A-Z_]*)$/.test(code))
      return code;
    if (current instanceof TypeError && current.message === "terminated") return "UND_ERR_SOCKET";
    const errors = field(current, "errors");
    current = Array.isArray(errors) && errors.length > 0 ? errors[0] : field(current, "cause");
  }
  return undefined;
}

function messageOf(thrown: unknown): string {
  if (typeof thrown === "string") return thrown;
  return stringField(thrown, "message") ?? "no reason given";
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
