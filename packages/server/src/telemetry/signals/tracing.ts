import {
  type Attributes,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { errorType } from "./gen-ai.ts";
import type { Scope, Scopes } from "./scopes.ts";

export interface SpanFacts {
  readonly name: string;
  readonly kind?: "internal" | "client" | "server";
  readonly attributes: Attributes;
}

const kinds = { internal: SpanKind.INTERNAL, client: SpanKind.CLIENT, server: SpanKind.SERVER } as const;

/** Starts spans below the current one of the scope. */
export class Tracing {
  readonly #tracer: Tracer;
  readonly #scopes: Scopes;

  constructor(tracer: Tracer, scopes: Scopes) {
    this.#tracer = tracer;
    this.#scopes = scopes;
  }

  start({ name, kind = "internal", attributes }: SpanFacts): Span {
    const parent = this.#scopes.current.trace;
    const context = parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent);
    return this.#tracer.startSpan(name, { kind: kinds[kind], attributes }, context);
  }

  /** Runs work below a span. Spans started meanwhile become its children. */
  below<Result>(span: Span, work: () => Result, change: Scope = {}): Result {
    const { traceId, spanId, traceFlags } = span.spanContext();
    return this.#scopes.run({ ...change, trace: { traceId, spanId, traceFlags } }, work);
  }
}

/** Ends a span; `error` is a stable code. Messages of errors quote what they are about, so none is taken. */
export function endSpan(span: Span, attributes: Attributes, error: string | undefined): void {
  span.setAttributes(attributes);
  if (error !== undefined) {
    span.setAttribute(errorType, error);
    span.setStatus({ code: SpanStatusCode.ERROR });
  }
  span.end();
}
