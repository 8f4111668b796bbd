import { Backend } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { call } from "@gennai/testkit/scripted-steps";
import { expect, test } from "vitest";
import { yesTo } from "../rpc/session-client.ts";
import { Collector } from "./collector.ts";
import { watchedServer } from "./watched-server.ts";

/** Put together here, so that no scanner takes this file for a leak. Some look like secrets, some are only private. */
const secret = (name: string) => ["ghp", `${name}x7Kq2mV9tR4wB8nL1cF6hJ3pD5sG0yZaQ`.slice(0, 36)].join("_");
const planted = {
  prompt: secret("Prompt"),
  privatePrompt: "the merger with Umbrella Holdings",
  answer: secret("Answer"),
  privateAnswer: "Rosebud was the sled",
  thinking: "between ourselves, blueberry",
  command: secret("Command"),
  privateCommand: "echo my-private-command-line",
  path: `${secret("Path")}.txt`,
  privatePath: "plans-for-the-takeover",
  content: secret("Content"),
  privateContent: "salaries of all employees",
  output: secret("Output"),
  privateOutput: "printed-by-a-program-only",
  toolName: `Tool_${secret("ToolName")}`,
  model: `model-${secret("Model")}`,
  header: secret("Header"),
  requestId: "chosen-by-a-hostile-client",
  baggage: "baggage-of-somebody-else",
  collector: secret("Collector"),
  serverToken: secret("ServerToken"),
  error: "quoted in the provider's error",
} as const;

const script = [
  {
    match: "merger",
    steps: [
      { thinking: [planted.thinking] },
      { text: [`${planted.privateAnswer} ${planted.answer}`] },
      call("Read", { file_path: `${planted.privatePath}/${planted.path}` }),
      call("Bash", {
        command: `${planted.privateCommand} ${planted.command} && printf '%s\\n' ${planted.output} ${planted.privateOutput} >&2; exit 3`,
        description: planted.privatePrompt,
      }),
      call(planted.toolName, { secret: planted.prompt }),
      call("Write", { file_path: `${planted.privatePath}/new.txt`, content: planted.privateContent }),
      { error: { code: "bad_response", message: `${planted.error} ${planted.answer}` } },
    ],
  },
];

/** What holds one of the texts, also as base64 or percent-encoded. */
function leaked(bytes: Buffer): readonly string[] {
  return Object.entries(planted)
    .filter(([, text]) =>
      [text, Buffer.from(text).toString("base64").replace(/=+$/, "").slice(0, -1), encodeURIComponent(text)].some(
        (form) => bytes.includes(form),
      ),
    )
    .map(([name]) => name);
}

test("nothing of prompts, answers, commands, paths, contents, outputs, names or headers leaves by traces, metrics or log lines", async () => {
  await using collector = await Collector.start();
  await using server = await watchedServer({
    script,
    token: planted.serverToken,
    files: { [`${planted.privatePath}/${planted.path}`]: `${planted.privateContent}\n${planted.content}\n` },
    args: ["--log-level", "debug"],
    environment: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer%20${planted.collector}`,
      OTEL_METRIC_EXPORT_INTERVAL: "200",
      // As people do who want content: it does not exist here.
      OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: "true",
    },
  });
  const { client } = server;
  const { sessionId } = await client.startSession({ interactive: true });
  const abilities = { clientId: "window-1", capabilities: { confirmation: true } };
  const { turnId } = await client.startTurn(
    { sessionId, clientTurnId: "turn-1", userInput: `Look at ${planted.privatePrompt}. ${planted.prompt}` },
    { headers: { "x-api-key": planted.header, "x-request-id": planted.requestId, baggage: `user=${planted.baggage}` } },
  );
  const outputs: string[] = [];
  for await (const { event } of client.subscribe({ sessionId, untilTurnId: turnId, client: abilities })) {
    if (event.case === "toolResult") outputs.push(event.value.output);
    if (event.case !== "confirmationRequest") continue;
    const { ownerEpoch } = event.value;
    await client.submitClientEvent({ sessionId, ownerEpoch, clientId: "window-1", event: yesTo(event.value) });
  }
  // Names that a client chooses, and requests that are refused.
  const unreachable = { backend: Backend.OLLAMA, model: planted.model, baseUrl: "http://127.0.0.1:9/v1" };
  const other = await client.startSession({ settings: unreachable });
  await Array.fromAsync(client.invoke({ sessionId: other.sessionId, userInput: planted.prompt }));
  await fetch(new URL(`/${planted.path}`, server.url), { headers: { Authorization: `Bearer ${planted.header}` } });
  const metrics = Buffer.from(await (await fetch(server.metricsUrl)).text());
  await server.stop();

  // What was planted was really there.
  expect(outputs.some((output) => output.includes(planted.privateContent))).toBe(true);
  expect(outputs.some((output) => output.includes(planted.privateOutput))).toBe(true);
  const names = collector.spans.map(({ name }) => name);
  expect(names).toEqual(
    expect.arrayContaining(["execute_tool Bash", "execute_tool Read", "execute_tool other", "chat other"]),
  );
  expect(collector.bodies.some(({ headers }) => headers.includes(planted.collector))).toBe(true);

  expect(leaked(Buffer.concat(collector.bodies.map(({ bytes }) => bytes)))).toEqual([]);
  expect(leaked(metrics)).toEqual([]);
  expect(leaked(Buffer.from(server.output))).toEqual([]);
  expect(server.output).toContain("AgentService/StartTurn");
});
