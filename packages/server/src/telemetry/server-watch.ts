import { randomUUID } from "node:crypto";
import type { Interceptor } from "@connectrpc/connect";
import { createRedactor } from "@gennai/machine/redaction/redactor";
import type { ServerLog } from "@gennai/machine/server-log";
import { type ServerObserver, unobserved } from "@gennai/sessions/session/server-observer";
import { namesOfBeforeAsked, readTelemetrySettings } from "./export/telemetry-settings.ts";
import type { Telemetry } from "./open-telemetry.ts";
import { RedactedLog } from "./redacted-log.ts";
import { rpcCode } from "./signals/error-code.ts";
import { Scopes } from "./signals/scopes.ts";
import { parseTraceParent } from "./signals/trace-parent.ts";

/** How one sees into a running server. Disposing sends and writes what is left. */
export interface ServerWatch extends AsyncDisposable {
  /** Masked, and with the number and trace of the request a line is about. */
  readonly log: ServerLog;
  readonly scopes: Scopes;
  readonly observer: ServerObserver;
  /** For every RPC, the outermost first. */
  readonly interceptors: readonly Interceptor[];
  /** Undefined if telemetry is not requested: then none of it is even loaded. */
  readonly telemetry: Telemetry | undefined;
  /** Masks this string from now on, in log lines and telemetry. */
  learn(secret: string): void;
  /** Resolves when every line so far is written. */
  flush(): Promise<void>;
}

export interface WatchOptions {
  readonly version: string;
  readonly log: ServerLog;
  /** Contains the standard `OTEL_*` variables. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Metrics are requested. */
  readonly metricsAsked: boolean;
  /** The server's own token, and other strings that must be masked. */
  readonly secrets: readonly string[];
}

/** Rejects with `TelemetryError`. */
export async function openServerWatch(options: WatchOptions): Promise<ServerWatch> {
  const { version, environment } = options;
  const settings = readTelemetrySettings(environment);
  const redacting = createRedactor({ secrets: [...options.secrets, ...(settings?.secrets ?? [])] });
  const scopes = new Scopes();
  const log = new RedactedLog(options.log, redacting, scopes);
  const redactor = await redacting;
  const asked = settings !== undefined || options.metricsAsked;
  const telemetry = asked
    ? await (await import("./open-telemetry.ts")).openTelemetry({
        settings,
        before: namesOfBeforeAsked(environment),
        version,
        redactor,
        scopes,
        log,
      })
    : undefined;
  return {
    log,
    scopes,
    telemetry,
    observer: telemetry ?? unobserved,
    interceptors: [
      scopeInterceptor(scopes),
      ...(telemetry === undefined ? [] : [telemetry.interceptor]),
      ...(options.log.debugs === true ? [rpcLines(log)] : []),
    ],
    learn: (secret) => redactor.learn(secret),
    flush: () => log.flush(),
    async [Symbol.asyncDispose]() {
      await telemetry?.[Symbol.asyncDispose]();
      await log[Symbol.asyncDispose]();
    },
  };
}

/**
 * Sets the scope of a request's work: its own id, which the client is told, and the client's trace. Ids from clients are
 * ignored, because they would end up in log lines.
 */
function scopeInterceptor(scopes: Scopes): Interceptor {
  return (next) => async (request) => {
    const requestId = randomUUID();
    const trace = parseTraceParent(request.header.get("traceparent"));
    const response = await scopes.run({ requestId, ...(trace === undefined ? {} : { trace }) }, () => next(request));
    response.header.set("X-Request-Id", requestId);
    return response;
  };
}

/** A debug line for each RPC: which one, how it ended, after how many milliseconds. Of a stream, how it began. */
function rpcLines(log: Pick<ServerLog, "debug">): Interceptor {
  return (next) => async (request) => {
    const began = performance.now();
    let code = "ok";
    try {
      return await next(request);
    } catch (error) {
      code = rpcCode(error);
      throw error;
    } finally {
      const milliseconds = Math.round((performance.now() - began) * 10) / 10;
      log.debug(`${request.service.typeName}/${request.method.name}`, { code, milliseconds });
    }
  };
}
