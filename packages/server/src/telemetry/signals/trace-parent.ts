/** A position in a trace, see https://www.w3.org/TR/trace-context/. */
export interface TraceContext {
  /** 32 lower-case hexadecimal digits. */
  readonly traceId: string;
  /** 16 of them. */
  readonly spanId: string;
  /** Bit 0: sampled. */
  readonly traceFlags: number;
}

const syntax = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** Reads a `traceparent` header; undefined for none and for what is not one: then a trace of our own begins. */
export function parseTraceParent(header: string | null | undefined): TraceContext | undefined {
  const [, version, traceId = "", spanId = "", flags = "", rest] = syntax.exec(header ?? "") ?? [];
  // Version ff is forbidden; version 00 has nothing behind the flags, later ones may.
  if (version === undefined || version === "ff" || (version === "00" && rest !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1 };
}

export function formatTraceParent({ traceId, spanId, traceFlags }: TraceContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, "0")}`;
}
