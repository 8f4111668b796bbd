// Like otlp-json.ts.
export { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-proto";
export { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
