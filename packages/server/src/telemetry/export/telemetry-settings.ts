import { isIP } from "node:net";
import { ExpectedError } from "@gennai/machine/expected-error";
import type { ListenAddress } from "../../http/listen/listen-address.ts";

/** Settings from the standard `OTEL_*` variables. Endpoints, headers, certificates and timeouts are read by the exporters. */
export interface TelemetrySettings {
  readonly traces: Otlp | undefined;
  readonly metrics: (Otlp & { readonly intervalMs: number }) | undefined;
  /** Values of headers that authenticate us at the collector: to be masked wherever they turn up. */
  readonly secrets: readonly string[];
}

export interface Otlp {
  readonly protocol: "http/protobuf" | "http/json";
}

type Environment = Readonly<Record<string, string | undefined>>;
type Signal = "TRACES" | "METRICS";

/** Thrown for a variable that requests something unsupported. */
export class TelemetryError extends ExpectedError {
  override readonly name = "TelemetryError";
  readonly code = "bad_telemetry_setting";
  readonly isWrongInput = true;
}

/** Undefined: telemetry is not requested, or OTEL_SDK_DISABLED switches it off. Throws `TelemetryError`. */
export function readTelemetrySettings(environment: Environment): TelemetrySettings | undefined {
  if (environment["OTEL_SDK_DISABLED"]?.toLowerCase() === "true") return undefined;
  const traces = otlpOf("TRACES", environment);
  const metrics = otlpOf("METRICS", environment);
  if (traces === undefined && metrics === undefined) return undefined;
  return {
    traces,
    metrics: metrics && { ...metrics, intervalMs: intervalOf(environment) },
    secrets: ["", "TRACES_", "METRICS_"].flatMap((signal) =>
      headerValues(environment[`OTEL_EXPORTER_OTLP_${signal}HEADERS`] ?? ""),
    ),
  };
}

/** The opt-in of the conventions for a transition: `gen_ai/dup` asks for metrics by the names of before as well. */
export function namesOfBeforeAsked(environment: Environment): boolean {
  return (environment["OTEL_SEMCONV_STABILITY_OPT_IN"] ?? "").split(",").some((each) => each.trim() === "gen_ai/dup");
}

function otlpOf(signal: Signal, environment: Environment): Otlp | undefined {
  const exporterName = `OTEL_${signal}_EXPORTER`;
  const exporter = environment[exporterName] || undefined;
  if (exporter !== undefined && exporter !== "otlp" && exporter !== "none") {
    throw new TelemetryError(
      `${exporterName} asks for ${JSON.stringify(exporter.slice(0, 40))}: this server exports by otlp, or not at all (none)`,
    );
  }
  const endpoint = named(environment, `OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`, "OTEL_EXPORTER_OTLP_ENDPOINT");
  if (exporter === "none" || (exporter === undefined && endpoint === undefined)) return undefined;
  if (endpoint !== undefined && !(URL.canParse(endpoint.value) && /^https?:$/.test(new URL(endpoint.value).protocol))) {
    throw new TelemetryError(`${endpoint.name} is not an http or https URL: for example http://127.0.0.1:4318`);
  }
  const asked = named(environment, `OTEL_EXPORTER_OTLP_${signal}_PROTOCOL`, "OTEL_EXPORTER_OTLP_PROTOCOL");
  const protocol = asked?.value ?? "http/protobuf";
  if (protocol === "http/protobuf" || protocol === "http/json") return { protocol };
  throw new TelemetryError(`${asked?.name} must be http/protobuf or http/json; other protocols are not spoken here`);
}

function named(
  environment: Environment,
  ...names: readonly string[]
): { readonly name: string; readonly value: string } | undefined {
  for (const name of names) {
    const value = environment[name];
    if (value !== undefined && value !== "") return { name, value };
  }
  return undefined;
}

/** Milliseconds between two exports of metrics. */
function intervalOf(environment: Environment): number {
  const text = environment["OTEL_METRIC_EXPORT_INTERVAL"] || "60000";
  const milliseconds = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (milliseconds > 0) return milliseconds;
  throw new TelemetryError("OTEL_METRIC_EXPORT_INTERVAL must be a number of milliseconds, e.g. 60000");
}

/** `name=value,name=value`, percent-encoded; both forms of a value count. */
function headerValues(headers: string): readonly string[] {
  return headers.split(",").flatMap((pair) => {
    const value = pair.slice(pair.indexOf("=") + 1).trim();
    // The secret comes after the scheme: `Bearer abc`.
    return [value, decoded(value), ...decoded(value).split(" ")].filter((each) => each !== "");
  });
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

/** `9464`, `127.0.0.1:9464`, `[::1]:9464`, `0.0.0.0:9464`; without a host, the loopback. Throws `TelemetryError`. */
export function parseMetricsAddress(text: string): ListenAddress & { readonly type: "tcp" } {
  const [, bracketed, plain, digits = ""] = /^(?:\[([^\]]+)\]:|([^:[\]]+):)?(\d{1,5})$/.exec(text) ?? [];
  const port = digits === "" ? -1 : Number(digits);
  const host = bracketed ?? plain ?? "127.0.0.1";
  const isHost = bracketed === undefined ? /^[A-Za-z0-9.-]+$/.test(host) : isIP(bracketed) === 6;
  if (port < 0 || port > 65_535 || !isHost) {
    throw new TelemetryError(
      `--metrics: ${JSON.stringify(text)} is not an address: for example 9464, or 0.0.0.0:9464 for other machines.`,
      { hint: "Leave it out for none." },
    );
  }
  return { type: "tcp", host, port };
}
