import { describe, expect, test } from "vitest";
import { readTelemetrySettings } from "#telemetry/export/telemetry-settings";

const here = "http://127.0.0.1:4318";
const otlp = { protocol: "http/protobuf" };

describe("the OTEL_* variables", () => {
  test.each([
    ["nothing: off", {}, undefined],
    [
      "an endpoint: both on",
      { OTEL_EXPORTER_OTLP_ENDPOINT: here },
      { traces: otlp, metrics: { ...otlp, intervalMs: 60_000 } },
    ],
    ["of one signal", { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: here }, { traces: otlp, metrics: undefined }],
    ["by the exporter's name, at the standard endpoint", { OTEL_METRICS_EXPORTER: "otlp" }, { traces: undefined }],
    ["none of one", { OTEL_EXPORTER_OTLP_ENDPOINT: here, OTEL_METRICS_EXPORTER: "none" }, { metrics: undefined }],
    ["disabled", { OTEL_EXPORTER_OTLP_ENDPOINT: here, OTEL_SDK_DISABLED: "TRUE" }, undefined],
    ["empty is not set", { OTEL_EXPORTER_OTLP_ENDPOINT: "", OTEL_TRACES_EXPORTER: "" }, undefined],
    [
      "JSON for one, and an interval",
      {
        OTEL_EXPORTER_OTLP_ENDPOINT: here,
        OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: "http/json",
        OTEL_METRIC_EXPORT_INTERVAL: "500",
      },
      { traces: { protocol: "http/json" }, metrics: { ...otlp, intervalMs: 500 } },
    ],
  ])("%s", (_name, environment, wanted) => {
    const settings = readTelemetrySettings(environment);
    if (wanted === undefined) expect(settings).toBeUndefined();
    else expect(settings).toMatchObject(wanted);
  });

  test.each([
    ["another exporter", { OTEL_TRACES_EXPORTER: "jaeger" }, /OTEL_TRACES_EXPORTER/],
    ["gRPC", { OTEL_TRACES_EXPORTER: "otlp", OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" }, /OTEL_EXPORTER_OTLP_PROTOCOL/],
    ["no URL", { OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4318" }, /OTEL_EXPORTER_OTLP_ENDPOINT/],
    ["no interval", { OTEL_METRICS_EXPORTER: "otlp", OTEL_METRIC_EXPORT_INTERVAL: "0" }, /OTEL_METRIC_EXPORT_INTERVAL/],
  ])("refused, by name: %s", (_name, environment, wanted) => {
    expect(() => readTelemetrySettings(environment)).toThrow(wanted);
  });

  test("what a refusal says quotes no secret of an endpoint, and values of headers are known as secrets", () => {
    const endpoint = "ftp://user:hunter2hunter2@collector";
    expect(() => readTelemetrySettings({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint })).toThrow(/^(?!.*hunter2)/);
    const headers = {
      OTEL_EXPORTER_OTLP_ENDPOINT: here,
      OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20abcdef123456,x=y",
    };
    expect(readTelemetrySettings(headers)?.secrets).toContain("abcdef123456");
  });
});
