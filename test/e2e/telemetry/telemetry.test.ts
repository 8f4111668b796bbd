import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { setTimeout as delay } from "node:timers/promises";
import { call } from "@gennai/testkit/scripted-steps";
import { startTestServer } from "@gennai/testkit/test-server";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { type CollectedSpan, Collector } from "./collector.ts";
import { parsePrometheusText } from "./prometheus-text.ts";
import { watchedServer } from "./watched-server.ts";

const traceId = "0af7651916cd43dd8448eb211c80319c";
const traceParent = `00-${traceId}-b7ad6b7169203331-01`;

const json = (endpoint: string) => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
  OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
  OTEL_METRIC_EXPORT_INTERVAL: "200",
});

const reading = [
  {
    steps: [
      { usage: { input_tokens: 120, output_tokens: 7 } },
      call("Read", { file_path: "README.md" }),
      { text: ["Done."] },
      { usage: { input_tokens: 150, output_tokens: 9 } },
    ],
  },
];

async function oneTurn(server: Awaited<ReturnType<typeof watchedServer>>, userInput: string): Promise<string> {
  const client = server.connectWith(traceParent);
  const { sessionId } = await client.startSession({});
  const { turnId } = await client.startTurn({ sessionId, userInput, clientTurnId: "turn-1" });
  await Array.fromAsync(client.subscribe({ sessionId, untilTurnId: turnId }));
  return sessionId;
}

const named = (spans: readonly CollectedSpan[], name: string) => spans.filter((span) => span.name === name);

describe("traces", () => {
  test("a turn is one tree below the client's span, with what the conventions for generative AI ask for", async () => {
    await using collector = await Collector.start();
    await using server = await watchedServer({ script: reading, environment: json(collector.endpoint) });
    const sessionId = await oneTurn(server, "read it");
    await server.stop();

    const { spans } = collector;
    expect(new Set(spans.map((span) => span.traceId))).toEqual(new Set([traceId]));
    const [rpc] = named(spans, "gennai.agent.v1.AgentService/StartTurn");
    expect(rpc).toMatchObject({ kind: 2, parentSpanId: "b7ad6b7169203331", failed: false });
    const [agent] = named(spans, "invoke_agent gennai");
    expect(agent).toMatchObject({
      kind: 1,
      parentSpanId: rpc?.spanId,
      failed: false,
      attributes: {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "gennai",
        "gen_ai.request.model": "scripted",
        "gen_ai.usage.input_tokens": 270,
        "gen_ai.usage.output_tokens": 16,
      },
    });
    expect(agent?.attributes["gen_ai.conversation.id"]).toMatch(/^[0-9a-f]{16}$/);
    const chats = named(spans, "chat scripted");
    expect(chats.map(({ kind, parentSpanId }) => [kind, parentSpanId])).toEqual([
      [3, agent?.spanId],
      [3, agent?.spanId],
    ]);
    expect(chats.map(({ attributes }) => attributes)).toMatchObject([
      {
        "gen_ai.provider.name": "gennai.scripted",
        "gen_ai.request.stream": true,
        "gen_ai.response.finish_reasons": ["tool_call"],
        "gen_ai.response.time_to_first_chunk": expect.any(Number),
        "gen_ai.usage.input_tokens": 120,
        "gen_ai.usage.output_tokens": 7,
      },
      { "gen_ai.response.finish_reasons": ["stop"], "gen_ai.usage.input_tokens": 150, "gen_ai.usage.output_tokens": 9 },
    ]);
    expect(named(spans, "execute_tool Read")).toMatchObject([
      {
        kind: 1,
        parentSpanId: agent?.spanId,
        failed: false,
        attributes: {
          "gen_ai.operation.name": "execute_tool",
          "gen_ai.tool.name": "Read",
          "gennai.gate.verdict": "allow",
          "gennai.risk": "low",
          "gennai.tool.refused": false,
        },
      },
    ]);
    const sent = Buffer.concat(collector.bodies.map(({ bytes }) => bytes)).toString();
    expect(sent).not.toContain(sessionId);
    expect(collector.bodies.some(({ path }) => path === "/v1/metrics")).toBe(true);
  });

  test("refusals, failures and tools that do not exist are told by their codes; a trace of nobody begins a new one", async () => {
    await using collector = await Collector.start();
    const script = [
      {
        steps: [
          call("MadeUpByTheModel", {}),
          call("Read", { file_path: "../outside.txt" }),
          { error: { code: "rate_limited", message: "Too many requests of customer Xylander." } },
        ],
      },
    ];
    await using server = await watchedServer({ script, environment: json(collector.endpoint) });
    const client = server.connectWith("00-not-a-trace-01");
    const { sessionId } = await client.startSession({});
    await Array.fromAsync(client.invoke({ sessionId, userInput: "go" }));
    await server.stop();

    const { spans } = collector;
    expect(new Set(spans.map((span) => span.traceId))).not.toContain(traceId);
    expect(named(spans, "execute_tool other")).toMatchObject([
      { failed: true, attributes: { "error.type": "unknown_tool", "gennai.tool.refused": true } },
    ]);
    expect(named(spans, "execute_tool Read")).toMatchObject([
      { failed: true, attributes: { "gennai.gate.verdict": "deny", "gennai.tool.refused": true } },
    ]);
    expect(named(spans, "chat scripted").at(-1)).toMatchObject({
      failed: true,
      attributes: { "error.type": "rate_limited" },
    });
    expect(named(spans, "invoke_agent gennai")).toMatchObject([
      { failed: true, attributes: { "error.type": "model_rate_limited" } },
    ]);
    const sent = Buffer.concat(collector.bodies.map(({ bytes }) => bytes)).toString();
    expect(sent).not.toMatch(/MadeUpByTheModel|Xylander|outside\.txt/);
  });

  test("a collector that is not there is told about once, and the server goes on", async () => {
    await using server = await watchedServer({
      script: reading,
      environment: {
        ...json("http://127.0.0.1:9"),
        OTEL_METRIC_EXPORT_INTERVAL: "1000",
        OTEL_EXPORTER_OTLP_TIMEOUT: "300",
      },
    });
    await oneTurn(server, "read it");
    await delay(3_500);
    await server.stop();
    expect(server.output.match(/Metrics cannot be exported/g)).toHaveLength(1);
    expect(server.output).not.toContain('"level":"error"');
  });
});

describe("metrics", () => {
  test("Prometheus reads them, and no label grows with use", async () => {
    await using server = await watchedServer({ script: [...reading, ...reading, ...reading] });
    const scrape = async () => parsePrometheusText(await (await fetch(server.metricsUrl)).text());
    const sessions = [await oneTurn(server, "read it")];
    const seriesOf = (families: Awaited<ReturnType<typeof scrape>>) =>
      [...families.values()].reduce((sum, { samples }) => sum + samples.length, 0);
    const first = await scrape();
    sessions.push(await oneTurn(server, "read it"), await oneTurn(server, "read it"));
    expect((await fetch(new URL("/nothing", server.url))).status).toBe(401);
    const last = await scrape();

    const value = (name: string, labels: Readonly<Record<string, string>>) =>
      last
        .get(name.replace(/_(count|sum|bucket)$/, ""))
        ?.samples.find(
          (each) => each.name === name && Object.entries(labels).every(([key, text]) => each.labels.get(key) === text),
        )?.value;
    expect(value("gennai_turns_total", { gennai_turn_end: "completed" })).toBe(3);
    expect(value("gennai_gate_verdicts_total", { gennai_gate_verdict: "allow" })).toBe(3);
    expect(value("gennai_ledger_records_total", { gennai_ledger_kind: "outcome" })).toBe(3);
    expect(value("gennai_session_events_total", { gennai_event_type: "final" })).toBe(3);
    expect(value("gennai_http_refused_total", { http_response_status_code: "401" })).toBe(1);
    expect(value("gennai_sessions_open", {})).toBe(3);
    expect(value("gennai_turns_running", {})).toBe(0);
    expect(value("gennai_ready", {})).toBe(1);
    expect(value("gennai_log_append_duration_count", { gennai_log_durable: "true" })).toBeGreaterThan(6);
    expect(value("gen_ai_client_inference_usage_input_tokens_total", { gen_ai_token_modality: "unknown" })).toBe(810);
    expect(value("gen_ai_client_inference_operation_output_tokens_sum", {})).toBe(3 * 16);
    expect(value("gen_ai_client_inference_duration_count", { gen_ai_operation_name: "chat" })).toBe(6);
    expect(value("gen_ai_invoke_agent_duration_count", { gen_ai_agent_name: "gennai" })).toBe(3);
    expect(value("gen_ai_execute_tool_duration_count", { gen_ai_tool_name: "Read" })).toBe(3);
    expect([...last.keys()].filter((name) => /_client_(token|operation)_/.test(name))).toEqual([]);
    expect(value("process_memory_usage", {})).toBeGreaterThan(10_000_000);

    const page = readFileSync(new URL("../../../docs/operations.md", import.meta.url), "utf8");
    const [, section = ""] = /^### Metrics$([^]*?)^### /m.exec(page) ?? [];
    const documented = new Set(
      Array.from(section.matchAll(/\b(?:gennai|gen_ai|rpc|process|nodejs)_[a-z0-9_]+\b/g), ([name]) => name),
    );
    const labelNames = new Set(
      [...last.values()].flatMap(({ samples }) => samples.flatMap((each) => [...each.labels.keys()])),
    );
    expect(documented.size).toBeGreaterThan(20);
    // This one comes with the first question to an editor.
    const later = ["gennai_bridge_round_trip", "gennai_request_kind", "gennai_request_end"];
    expect([...documented].filter((name) => !last.has(name) && !labelNames.has(name) && !later.includes(name))).toEqual(
      [],
    );

    // One series more: the refused request.
    expect(seriesOf(last)).toBe(seriesOf(first) + 1);
    const labels = [...last.values()].flatMap(({ samples }) => samples.flatMap((each) => [...each.labels.values()]));
    for (const id of sessions) expect(labels).not.toContain(id);
  });

  test("whoever asks for it gets the names of 0.2 beside those of today", async () => {
    const environment = { OTEL_SEMCONV_STABILITY_OPT_IN: "http, gen_ai/dup" };
    await using server = await watchedServer({ script: reading, environment });
    await oneTurn(server, "read it");
    const families = parsePrometheusText(await (await fetch(server.metricsUrl)).text());
    const counted = [...families].map(([name, { samples }]) => {
      const counts = samples.filter((each) => each.name === `${name}_count`).map((each) => each.value);
      return [name, counts.toSorted((one, other) => one - other)] as const;
    });
    expect(Object.fromEntries(counted)).toMatchObject({
      gen_ai_client_operation_duration: [1, 1, 2],
      gen_ai_client_inference_duration: [2],
      gen_ai_invoke_agent_duration: [1],
      gen_ai_execute_tool_duration: [1],
      gen_ai_client_operation_time_to_first_chunk: [2],
      gen_ai_client_inference_time_to_first_chunk: [2],
      gen_ai_client_token_usage: [2, 2],
      gen_ai_client_inference_operation_input_tokens: [2],
    });
  });

  test("the door is for one path, one method, and names of this machine", async () => {
    await using server = await watchedServer({ script: reading });
    const status = async (path: string, init?: RequestInit) =>
      (await fetch(new URL(path, server.metricsUrl), init)).status;
    expect(await status("/metrics")).toBe(200);
    expect(await status("/")).toBe(404);
    expect(await status("/metrics?all=1")).toBe(404);
    expect(await status("/metrics", { method: "POST" })).toBe(405);
    const { request } = await import("node:http");
    const foreign = new Promise((resolve) => {
      request(server.metricsUrl, { headers: { Host: "evil.example" } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      }).end();
    });
    expect(await foreign).toBe(421);
  });
});

describe("logs", () => {
  test("are JSON lines with the request and the trace they belong to", async () => {
    await using server = await watchedServer({ script: reading, args: ["--log-level", "debug"] });
    await oneTurn(server, "read it");
    await server.stop();
    const lines = server.output
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => z.record(z.string(), z.unknown()).parse(JSON.parse(line)));
    expect(lines).toContainEqual(expect.objectContaining({ level: "info", message: `Listening on ${server.url}` }));
    expect(lines.find(({ message }) => message === "gennai.agent.v1.AgentService/StartTurn")).toEqual({
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      level: "debug",
      message: "gennai.agent.v1.AgentService/StartTurn",
      code: "ok",
      milliseconds: expect.any(Number),
      request_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      trace_id: traceId,
      span_id: expect.stringMatching(/^[0-9a-f]{16}$/),
    });
  });
});

test("nobody asked: nothing of OpenTelemetry is loaded", async () => {
  await using server = await startTestServer({
    script: reading,
    server: { environment: { PATH: process.env["PATH"] } },
  });
  await server.client.getServerInfo({});
  const loaded = Object.keys(createRequire(import.meta.url).cache).filter((path) =>
    path.includes("/node_modules/@opentelemetry/"),
  );
  expect(loaded).toEqual([]);
});
