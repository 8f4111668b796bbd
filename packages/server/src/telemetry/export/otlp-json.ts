// Loaded when it is needed. The names are taken from CommonJS here, because a bundle's dynamic import of that has a default only.
export { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-http";
export { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
