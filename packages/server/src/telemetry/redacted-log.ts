import type { Redactor } from "@gennai/governance/redaction";
import type { LogFields, ServerLog } from "@gennai/machine/server-log";
import pLimit from "p-limit";
import type { Scopes } from "./signals/scopes.ts";

/**
 * A log before which everything is masked, errors and their stacks included, and that knows of which request a line is. Lines
 * come out in order, a moment later. Disposing waits for them.
 */
export class RedactedLog implements ServerLog, AsyncDisposable {
  readonly #log: ServerLog;
  readonly #redactor: Promise<Redactor>;
  readonly #scopes: Scopes;
  readonly #inOrder = pLimit(1);

  /** @param redactor lines that come before it is there wait for it */
  constructor(log: ServerLog, redactor: Promise<Redactor>, scopes: Scopes) {
    this.#log = log;
    this.#redactor = redactor;
    this.#scopes = scopes;
  }

  debug(text: string, fields?: LogFields): void {
    this.#write(text, fields, (masked, all) => this.#log.debug(masked, all));
  }

  info(text: string, fields?: LogFields): void {
    this.#write(text, fields, (masked, all) => this.#log.info(masked, all));
  }

  warn(text: string, fields?: LogFields): void {
    this.#write(text, fields, (masked, all) => this.#log.warn(masked, all));
  }

  error(text: string, cause?: unknown, fields?: LogFields): void {
    let shown: unknown;
    const mask = async (redactor: Redactor): Promise<void> => {
      shown = cause === undefined ? undefined : await maskedCause(cause, redactor);
    };
    this.#write(text, fields, (masked, all) => this.#log.error(masked, shown, all), mask);
  }

  /** Resolves when everything that was said so far is written. */
  flush(): Promise<void> {
    return this.#inOrder(() => undefined);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.flush();
  }

  #write(
    text: string,
    fields: LogFields | undefined,
    write: (masked: string, fields: LogFields) => void,
    before?: (redactor: Redactor) => Promise<void>,
  ): void {
    const { requestId, trace } = this.#scopes.current;
    const all = {
      ...fields,
      ...(requestId === undefined ? {} : { request_id: requestId }),
      ...(trace === undefined ? {} : { trace_id: trace.traceId, span_id: trace.spanId }),
    };
    const written = this.#inOrder(async () => {
      try {
        const redactor = await this.#redactor;
        await before?.(redactor);
        write(await redactor.redact(text), all);
      } catch {
        write("A message is left out: it could not be masked.", all);
      }
    });
    // A failing log has nowhere to report this, and must not end the process.
    written.catch(() => undefined);
  }
}

async function maskedCause(cause: unknown, redactor: Redactor): Promise<unknown> {
  if (!(cause instanceof Error)) return redactor.redact(String(cause));
  const masked = new Error(await redactor.redact(cause.message));
  masked.name = cause.name;
  masked.stack = await redactor.redact(cause.stack ?? `${cause.name}: ${cause.message}`);
  if (cause.cause !== undefined) masked.cause = await maskedCause(cause.cause, redactor);
  return masked;
}
