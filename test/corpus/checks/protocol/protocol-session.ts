import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import type { RequestFileRead } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { ConfirmationAnswer } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { startTestServer, type TestServer } from "@gennai/testkit/test-server";
import {
  allEvents,
  codeOf,
  endState,
  eventsOf,
  lastOfGapless,
  runTurn,
  startSession,
  Watcher,
} from "../../../e2e/rpc/session-client.ts";
import { type Checks, check } from "../../corpus-case.ts";
import { envelope, grpcWeb } from "../../raw-wire.ts";
import { calledLast, scriptOf } from "../../tool-call.ts";

const touch = scriptOf([{ tool: "Bash", args: { command: "touch made" } }]);
const nobody = "00000000-0000-4000-8000-000000000000";

/** A turn that asks for the editor's buffer. */
async function whileRead(
  work: (context: {
    readonly server: TestServer;
    readonly editor: Watcher;
    readonly request: RequestFileRead;
  }) => Promise<void>,
): Promise<void> {
  await using server = await startTestServer({
    files: { "a.txt": "a\n" },
    script: [scriptOf([{ tool: "Read", args: { file_path: "a.txt" } }])],
  });
  const sessionId = await startSession(server, { interactive: true });
  await using editor = await Watcher.attach(server, sessionId);
  await server.client.startTurn({ sessionId, userInput: "go", clientTurnId: "a" });
  await work({ server, editor, request: await editor.next("requestFileRead") });
}

function contentOf({ requestId, path }: RequestFileRead) {
  return { case: "fileReadResponse", value: { requestId, path, content: "buffer\n" } } as const;
}

/** A turn that asks before it runs a command. */
async function whileAsked(
  confirmation: { readonly answerMs: number; readonly waitForClientMs: number },
  work: (context: {
    readonly server: TestServer;
    readonly sessionId: string;
    readonly editor: Watcher;
    readonly yes: Parameters<Watcher["submit"]>[0];
  }) => Promise<void>,
): Promise<void> {
  await using server = await startTestServer({ script: [touch], server: { confirmation } });
  const sessionId = await startSession(server, { interactive: true });
  await using editor = await Watcher.attach(server, sessionId);
  await server.client.startTurn({ sessionId, userInput: "go", clientTurnId: "a" });
  const { requestId, actionSha256 } = await editor.next("confirmationRequest");
  const yes = {
    case: "confirmationResponse",
    value: { requestId, actionSha256, answer: ConfirmationAnswer.YES },
  } as const;
  await work({ server, sessionId, editor, yes });
}

const made = (server: TestServer): boolean => existsSync(server.workspace.path("made"));

/** Design: a client that goes cancels nothing; what it was asked waits for one that comes, and then is denied. */
export async function vanishedClientDenies(): Promise<void> {
  await whileAsked({ answerMs: 5_000, waitForClientMs: 200 }, async ({ server, sessionId, editor, yes }) => {
    await editor[Symbol.asyncDispose]();
    await using page = await Watcher.attach(server, sessionId, { capabilities: {} });
    assert.equal(await page.end(), "COMPLETED");
    assert.equal(calledLast(page.events).code, "nobody_to_ask");
    assert.equal(await codeOf(page.submit(yes)), "failed_precondition");
    assert.equal(made(server), false);
  });
}

export async function reconnectResumes(): Promise<void> {
  const steps = Array.from({ length: 40 }, (_, index) => [{ text: [`${index} `] }, { delay_ms: 5 }]).flat();
  await using server = await startTestServer({ script: [{ steps }] });
  const sessionId = await startSession(server);
  const { turnId } = await server.client.startTurn({ sessionId, userInput: "go", clientTurnId: "a" });
  const seen: bigint[][] = [];
  let afterSeq = 0n;
  for (let connection = 0; ; connection += 1) {
    await using watcher = await Watcher.attach(server, sessionId, { afterSeq });
    const wanted = connection < 4 ? 3 : Number.POSITIVE_INFINITY;
    await Promise.race([watcher.end(turnId), watcher.until((events) => events.length >= wanted || undefined)]);
    const events = watcher.events.filter(({ seq }) => seq > 0n);
    seen.push(...events.map(({ firstSeq, seq }) => [firstSeq, seq]));
    afterSeq = events.at(-1)?.seq ?? afterSeq;
    if (endState(events) === "COMPLETED") break;
  }
  let last = 0n;
  for (const [firstSeq = 0n, seq = 0n] of seen) {
    assert.equal(firstSeq, last + 1n);
    last = seq;
  }
  assert.equal((await server.client.resumeSession({ sessionId })).session?.lastSeq, last);
}

export const protocolSessionChecks: Checks = {
  "SES-002": check(() =>
    whileRead(async ({ editor, request }) => {
      await editor.submit(contentOf(request));
      assert.equal(await codeOf(editor.submit(contentOf(request))), "already_exists");
      await editor.end();
      assert.equal(await codeOf(editor.submit(contentOf(request))), "already_exists");
    }),
  ),
  "SES-003": check(() =>
    whileAsked({ answerMs: 100, waitForClientMs: 5_000 }, async ({ server, editor, yes }) => {
      await editor.end();
      assert.equal(await codeOf(editor.submit(yes)), "failed_precondition");
      assert.equal(made(server), false);
    }),
  ),
  "SES-004": check(() =>
    whileRead(async ({ server, editor, request }) => {
      await using stranger = await Watcher.attach(server, await startSession(server, { interactive: true }));
      assert.equal(await codeOf(stranger.submit(contentOf(request))), "permission_denied");
      await editor.submit(contentOf(request));
      assert.equal(await editor.end(), "COMPLETED");
    }),
  ),
  "SES-005": check(() =>
    whileRead(async ({ editor, request }) => {
      assert.equal(await codeOf(editor.submit(contentOf({ ...request, path: "README.md" }))), "invalid_argument");
    }),
  ),
  "SES-006": check(async () => {
    // The policy speaks before the editor is asked, so that there is no request to answer.
    await using server = await startTestServer({
      files: { ".env": "KEY=1\n" },
      script: [scriptOf([{ tool: "Read", args: { file_path: ".env" } }])],
    });
    const sessionId = await startSession(server, { interactive: true });
    const events = await runTurn(server, sessionId, "go", {
      client: { clientId: "e", capabilities: { fileRead: true } },
    });
    assert.deepEqual([calledLast(events).code, eventsOf(events, "requestFileRead")], ["zero_access", []]);
  }),
  "SES-011": check(async () => {
    await using server = await startTestServer({ script: [{ steps: [{ delay_ms: 300 }, { text: ["Done."] }] }] });
    const sessionId = await startSession(server);
    const running = runTurn(server, sessionId, "first", { clientTurnId: "a" });
    await using watcher = await Watcher.attach(server, sessionId);
    await watcher.next("userMessage");
    assert.equal(await codeOf(runTurn(server, sessionId, "second")), "failed_precondition");
    assert.equal(endState(await running), "COMPLETED");
  }),
  "SES-013": check(async () => {
    await using server = await startTestServer();
    const sessionId = await startSession(server);
    assert.match(sessionId, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    for (const guess of [nobody, sessionId.toUpperCase(), sessionId.slice(0, -1), `${sessionId} `, "%", "_"]) {
      assert.equal(await codeOf(server.client.getTodos({ sessionId: guess })), "not_found");
    }
  }),
  // Design: the session owns the turn, so a stream that breaks cancels nothing.
  "SES-014": check(async () => {
    await using server = await startTestServer({ script: [scriptOf([{ tool: "Bash", args: { command: "ls" } }])] });
    const sessionId = await startSession(server);
    {
      await using watcher = await Watcher.attach(server, sessionId);
      await server.client.startTurn({ sessionId, userInput: "go", clientTurnId: "a" });
      await watcher.next("toolCall");
    }
    await using again = await Watcher.attach(server, sessionId);
    assert.equal(await again.end(), "COMPLETED");
    assert.equal(calledLast(again.events).code, "ok");
  }),
  "SES-015": check(vanishedClientDenies),
  "SES-016": check(reconnectResumes),
  "SES-018": check(async () => {
    await using server = await startTestServer({ script: [{ steps: [{ text: { repeat: 1_000_000, chunk: "a" } }] }] });
    const sessionId = await startSession(server);
    const before = process.memoryUsage().rss;
    const events = await runTurn(server, sessionId, "go");
    lastOfGapless(events);
    const text = eventsOf(events, "assistantDelta")
      .map((delta) => delta.text)
      .join("");
    assert.equal(text.length, 1_000_000);
    assert.ok(events.length < 50_000, `${events.length} events`);
    assert.ok(process.memoryUsage().rss - before < 500 * 1024 * 1024);
  }),
  // Design: sessions that nobody uses make room for others.
  "SES-019": check(async () => {
    await using server = await startTestServer();
    const codes: string[] = [];
    for (let started = 0; started < 1000; started += 50) {
      codes.push(...(await Promise.all(Array.from({ length: 50 }, () => codeOf(server.client.startSession({}))))));
    }
    assert.deepEqual([...new Set(codes)].sort(), ["ok"]);
    assert.equal(await codeOf(server.client.getServerInfo({})), "ok");
  }),
  "SES-021": check(() =>
    whileAsked({ answerMs: 2_000, waitForClientMs: 50_000 }, async ({ server, sessionId, editor, yes }) => {
      await editor[Symbol.asyncDispose]();
      await new Promise((resolve) => setTimeout(resolve, 2_200));
      assert.equal(made(server), false);
      await using again = await Watcher.attach(server, sessionId);
      assert.deepEqual(eventsOf(again.events, "clientRequestResolved"), []);
      await again.submit(yes);
      assert.equal(await again.end(), "COMPLETED");
    }),
  ),
  // Design: no owner among clients; the first valid answer wins, and there is one.
  "SES-022": check(() =>
    whileAsked({ answerMs: 50_000, waitForClientMs: 50_000 }, async ({ server, sessionId, editor, yes }) => {
      await using second = await Watcher.attach(server, sessionId, { clientId: "second" });
      await second.next("confirmationRequest");
      const codes = await Promise.all([codeOf(editor.submit(yes)), codeOf(second.submit(yes))]);
      assert.deepEqual(codes.sort(), ["already_exists", "ok"]);
      assert.equal(
        (await Promise.all([editor.next("clientRequestResolved"), second.next("clientRequestResolved")])).length,
        2,
      );
    }),
  ),
  "SES-023": check(async () => {
    // No request carries a client's time; what an original client may put into todos is the server's to say.
    await using server = await startTestServer();
    const sessionId = await startSession(server);
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
    const { items } = await server.client.writeTodos({
      sessionId,
      items: [{ content: "a", created: tomorrow, updated: tomorrow }],
    });
    for (const time of [items[0]?.created, items[0]?.updated])
      assert.ok(Math.abs(Date.parse(time ?? "") - Date.now()) < 60_000);
  }),
  "SES-024": check(async () => {
    await using server = await startTestServer();
    const sessionId = await startSession(server);
    const known = Buffer.concat([Buffer.from([0x0a, sessionId.length]), Buffer.from(sessionId)]);
    const unknown = Buffer.from([0xfa, 0x3f, 3, 1, 2, 3, 0xc0, 0x3e, 1]);
    assert.equal((await grpcWeb(server, "GetTodos", envelope(Buffer.concat([known, unknown])))).code, "ok");
    // An event of a kind that this server does not know answers nothing.
    assert.equal(
      (await grpcWeb(server, "SubmitClientEvent", envelope(Buffer.concat([known, unknown])))).code,
      "invalid_argument",
    );
  }),
  "SES-025": check(async () => {
    await using server = await startTestServer({
      script: [scriptOf([{ tool: "Bash", args: { command: "touch made", approved: true, bypass: true } }]), touch],
    });
    const sessionId = await startSession(server);
    const { port, token } = server;
    // As JSON, with fields and headers that would permit everything if they were used.
    const response = await fetch(`${server.url}/gennai.agent.v1.AgentService/StartTurn`, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        Authorization: `Bearer ${token}`,
        "X-Approved": "true",
        Connection: "close",
      },
      body: JSON.stringify({
        sessionId,
        userInput: "go",
        clientTurnId: "a",
        approved: true,
        bypass: true,
        risk: "low",
      }),
    });
    assert.ok(response.ok || response.status === 400, `${port} answered ${response.status}`);
    await response.arrayBuffer();
    const events = response.ok ? await waitForEnd(server, sessionId) : await runTurn(server, sessionId, "go");
    assert.notEqual(calledLast(events).code, "ok");
    assert.equal(made(server), false);
  }),
  "SES-028": check(async () => {
    await using server = await startTestServer();
    const sessionId = await startSession(server);
    for (const workingDir of ["/", "/etc", ".."]) {
      assert.equal(
        await codeOf(server.client.setSettings({ sessionId, settings: { workingDir } })),
        "invalid_argument",
      );
    }
    assert.equal(await codeOf(server.client.startSession({ settings: { workingDir: "/" } })), "invalid_argument");
  }),
};

async function waitForEnd(server: TestServer, sessionId: string) {
  await using watcher = await Watcher.attach(server, sessionId);
  await watcher.end();
  return await allEvents(server, sessionId);
}
