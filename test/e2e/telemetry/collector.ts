import { createServer } from "node:http";
import { z } from "zod";

const value = z.looseObject({
  stringValue: z.string().optional(),
  intValue: z.union([z.number(), z.string()]).optional(),
  doubleValue: z.number().optional(),
  boolValue: z.boolean().optional(),
  arrayValue: z.object({ values: z.array(z.looseObject({ stringValue: z.string().optional() })) }).optional(),
});
const spanSchema = z.looseObject({
  traceId: z.string(),
  spanId: z.string(),
  parentSpanId: z.string().optional(),
  name: z.string(),
  kind: z.number(),
  attributes: z.array(z.object({ key: z.string(), value })).default([]),
  status: z.looseObject({ code: z.number().optional() }).optional(),
});
const tracesSchema = z.object({
  resourceSpans: z.array(z.looseObject({ scopeSpans: z.array(z.looseObject({ spans: z.array(spanSchema) })) })),
});

export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  /** 1 internal, 2 server, 3 client. */
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly failed: boolean;
}

/** An OpenTelemetry collector on the loopback that keeps what it gets, by OTLP over HTTP. */
export class Collector implements AsyncDisposable {
  /** Every body, as it came, with its path and headers. */
  readonly bodies: { readonly path: string; readonly bytes: Buffer; readonly headers: string }[] = [];
  readonly #server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const headers = JSON.stringify(request.headers);
      this.bodies.push({ path: request.url ?? "", bytes: Buffer.concat(chunks), headers });
      response.writeHead(200, { "Content-Type": "application/json" }).end("{}");
    });
  });

  static async start(): Promise<Collector> {
    const collector = new Collector();
    await new Promise<void>((resolve) => collector.#server.listen(0, "127.0.0.1", resolve));
    return collector;
  }

  get endpoint(): string {
    const address = this.#server.address();
    return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
  }

  /** Those of `http/json`. */
  get spans(): readonly CollectedSpan[] {
    return this.bodies
      .filter(({ path }) => path === "/v1/traces")
      .flatMap(({ bytes }) => tracesSchema.parse(JSON.parse(bytes.toString())).resourceSpans)
      .flatMap(({ scopeSpans }) => scopeSpans)
      .flatMap(({ spans }) => spans)
      .map(({ traceId, spanId, parentSpanId, name, kind, attributes, status }) => ({
        traceId,
        spanId,
        name,
        kind,
        parentSpanId: parentSpanId === "" ? undefined : parentSpanId,
        attributes: Object.fromEntries(attributes.map((each) => [each.key, plain(each.value)])),
        failed: status?.code === 2,
      }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

function plain({ stringValue, intValue, doubleValue, boolValue, arrayValue }: z.infer<typeof value>): unknown {
  if (arrayValue !== undefined) return arrayValue.values.map((each) => each.stringValue);
  return stringValue ?? (intValue === undefined ? (doubleValue ?? boolValue) : Number(intValue));
}
