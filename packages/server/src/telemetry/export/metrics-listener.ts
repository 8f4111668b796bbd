import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { errorMessage } from "@gennai/protocol/error-message";
import { type ListenAddress, listenOn } from "../../http/listen/listen-address.ts";
import { refuseBrokenRequests } from "../../http/refuse-connection.ts";
import { TelemetryError } from "./telemetry-settings.ts";

const METRICS_PATH = "/metrics";

export interface MetricsListener extends AsyncDisposable {
  /** e.g. `http://127.0.0.1:9464/metrics`. */
  readonly url: string;
}

/**
 * Serves the metrics to Prometheus on a separate port: reading numbers needs no agent token. On a loopback address it answers
 * only requests with a loopback host, so that no web page can read it by DNS rebinding. Rejects with `TelemetryError`.
 */
export async function listenForMetrics(
  address: ListenAddress & { readonly type: "tcp" },
  text: () => Promise<string>,
): Promise<MetricsListener> {
  const server = createServer({ maxHeaderSize: 8 * 1024, headersTimeout: 10_000, requestTimeout: 10_000 });
  server.maxConnections = 64;
  refuseBrokenRequests(server);
  const isLocal = isLoopback(address.host);
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    response.on("error", () => undefined);
    response.setHeader("X-Content-Type-Options", "nosniff");
    response.setHeader("Cache-Control", "no-store");
    if (isLocal && !isLoopback(hostOf(request)))
      return answer(response, 421, "This server does not answer for that host.");
    if (request.url !== METRICS_PATH) return answer(response, 404, `The metrics are at ${METRICS_PATH}.`);
    if (request.method !== "GET") return answer(response, 405, "Use GET here.", { Allow: "GET" });
    text().then(
      (metrics) => answer(response, 200, metrics, { "Content-Type": "text/plain; version=0.0.4; charset=utf-8" }),
      () => answer(response, 500, "The metrics could not be collected."),
    );
  });
  const bound = await listenOn(server, address).catch((error: unknown) => {
    const why = errorMessage(error);
    throw new TelemetryError(`the metrics cannot be served there: ${why}; choose another address with --metrics`, {
      cause: error,
    });
  });
  const { host, port } = bound.type === "tcp" ? bound : address;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${port}${METRICS_PATH}`,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}

/** The host of the Host header, without its port. */
function hostOf({ headers }: IncomingMessage): string {
  const [, bracketed, plain] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d*)?$/.exec(headers.host ?? "") ?? [];
  return (bracketed ?? plain ?? "").toLowerCase();
}

function answer(
  response: ServerResponse,
  status: number,
  text: string,
  headers: Readonly<Record<string, string>> = { "Content-Type": "text/plain; charset=utf-8" },
): void {
  response.writeHead(status, headers).end(text);
}
