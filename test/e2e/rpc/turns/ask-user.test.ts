import { existsSync } from "node:fs";
import { UserQuestionEnd } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { RequestResolution } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { bash, call } from "@gennai/testkit/scripted-steps";
import { type ScriptedTurn, startTestServer, type TestServer } from "@gennai/testkit/test-server";
import { describe, expect, test } from "vitest";
import { allEvents, eventOf, eventsOf, refusalOf, runTurn, startSession, Watcher } from "../session-client.ts";

const hostile = "<b>Allow\u001b[2J\u202Eeverything\u0007?</b>";

const questions = [
  {
    question: `Which store?\n${hostile}`,
    header: "Store",
    options: [
      { label: "SQLite", description: "One file" },
      { label: "Postgres", description: "A server" },
    ],
  },
  { question: "Which parts?", multiple: true, options: [{ label: "api" }, { label: "web" }, { label: "docs" }] },
  { question: "Anything else?" },
];

const asks = (
  tool = "AskUser",
  args: object = { questions },
  after: readonly Readonly<Record<string, unknown>>[] = [],
) => [{ match: ".", steps: [call(tool, args), ...after, { text: ["Done."] }] }];

/** A server whose model asks. */
function serverWhoseModelAsks(
  script: readonly ScriptedTurn[] = asks(),
  confirmation: { answerMs?: number; waitForClientMs: number } = { waitForClientMs: 5_000 },
): Promise<TestServer> {
  return startTestServer({ script, server: { confirmation } });
}

const canAsk = { capabilities: { askUser: true, confirmation: true } };

async function begin(server: TestServer, sessionId: string): Promise<string> {
  return (await server.client.startTurn({ sessionId, userInput: "go", clientTurnId: "turn" })).turnId;
}

function reply(requestId: string, end: UserQuestionEnd, answers: { chosen?: number[]; text?: string }[] = []) {
  return { case: "userQuestionResponse", value: { requestId, end, answers } } as const;
}

const threeAnswers = [{ chosen: [1] }, { chosen: [0, 2], text: "not the site" }, {}];

describe("a question of the model", () => {
  test("is answered once, by the first of two windows; the model, the log and the ledger know", async () => {
    await using server = await serverWhoseModelAsks();
    const sessionId = await startSession(server, { interactive: true });
    await using first = await Watcher.attach(server, sessionId, { clientId: "window-1", ...canAsk });
    await using second = await Watcher.attach(server, sessionId, { clientId: "window-2", ...canAsk });
    await begin(server, sessionId);
    const asked = await second.next("userQuestionRequest");
    expect(asked.questions.map(({ question }) => question)).toEqual([
      "Which store?\n<b>Allow[2Jeverything?</b>",
      "Which parts?",
      "Anything else?",
    ]);
    expect(asked.deadline).toBeDefined();
    // A client that comes back finds it still open.
    await using again = await Watcher.attach(server, sessionId, { clientId: "window-3", ...canAsk });
    expect((await again.next("userQuestionRequest")).requestId).toBe(asked.requestId);

    for (const wrong of [[{}], [{ chosen: [2] }, {}, {}], [{ chosen: [0, 1] }, {}, {}], [{}, { chosen: [1, 1] }, {}]]) {
      const refused = await refusalOf(second.submit(reply(asked.requestId, UserQuestionEnd.ANSWERED, wrong)));
      expect(refused.code).toBe("invalid_argument");
    }
    await second.submit(reply(asked.requestId, UserQuestionEnd.ANSWERED, threeAnswers), asked.ownerEpoch);
    const late = await refusalOf(first.submit(reply(asked.requestId, UserQuestionEnd.CANCELLED)));
    expect(late.code).toBe("already_exists");
    expect(await first.next("clientRequestResolved")).toMatchObject({
      requestId: asked.requestId,
      resolution: RequestResolution.ANSWERED,
      clientId: "window-2",
    });
    expect(await first.end()).toBe("COMPLETED");
    const { output } = await first.next("toolResult");
    expect(output).toContain("chosen: Postgres");
    expect(output).toContain("chosen: api, docs\n   in their words: not the site");
    expect(output).toContain("3. Anything else?\n   no answer: they leave it to you");
    expect(output).toContain("permits no call");
    const { governance } = server;
    const { records } = await governance.listLedgerRecords({ limit: 100 });
    const asking = records.filter(({ json }) => json.includes('"user_asked"'));
    expect(asking).toHaveLength(1);
    expect(asking[0]?.json).toContain('{"by":"user at window-2","end":"answered"}');
  });

  test("permits nothing: what needs a yes asks for it all the same", async () => {
    const after = [bash("touch made.txt")];
    await using server = await serverWhoseModelAsks(
      asks("AskUser", { questions: [{ question: "May I touch made.txt?", options: [{ label: "yes" }] }] }, after),
    );
    await using window = await Watcher.begin(server, canAsk);
    const { sessionId } = window;
    const { requestId } = await window.next("userQuestionRequest");
    await window.submit(reply(requestId, UserQuestionEnd.ANSWERED, [{ chosen: [0] }]));
    expect((await window.next("confirmationRequest")).title).toBe("Allow Bash?");
    expect(existsSync(server.workspace.path("made.txt"))).toBe(false);
    // An answer of one kind does not answer the other.
    const confirmation = await window.next("confirmationRequest");
    const crossed = reply(confirmation.requestId, UserQuestionEnd.ANSWERED, [{ chosen: [0] }]);
    expect((await refusalOf(window.submit(crossed))).code).toBe("invalid_argument");
    await server.client.cancelTurn({ sessionId });
    expect(existsSync(server.workspace.path("made.txt"))).toBe(false);
  });

  test("ends where the person closes them, says nothing clear, or is not there", async () => {
    await using server = await serverWhoseModelAsks();
    for (const [end, words] of [
      [UserQuestionEnd.CANCELLED, "closed the questions"],
      [UserQuestionEnd.UNSPECIFIED, "closed the questions"],
      [UserQuestionEnd.NOBODY, "Nobody can be asked"],
    ] as const) {
      await using window = await Watcher.begin(server, canAsk);
      const { requestId } = await window.next("userQuestionRequest");
      await window.submit(reply(requestId, end));
      expect((await window.next("toolResult")).output).toContain(words);
      expect(await window.end()).toBe("COMPLETED");
    }
  });

  test("is not waited for where no client can ask, in a session that is interactive as well", async () => {
    await using server = await serverWhoseModelAsks();
    for (const interactive of [false, true]) {
      const sessionId = await startSession(server, { interactive });
      await using window = await Watcher.attach(server, sessionId, { capabilities: { confirmation: true } });
      await begin(server, sessionId);
      expect((await window.next("toolResult")).output).toContain("Nobody can be asked");
      expect(await window.end()).toBe("COMPLETED");
      expect(eventsOf(await allEvents(server, sessionId), "userQuestionRequest")).toEqual([]);
    }
  });
});

test("is the same tool by its other names; what cannot be asked is refused with words that a model can act on", async () => {
  const one = { questions: [{ question: "Which?", options: [{ label: "a" }], multiSelect: true }] };
  const twice = { questions: [{ question: "?", options: [{ label: "yes" }, { label: "y\u200bes" }] }] };
  const rows: readonly (readonly [tool: string, args: object, words: string])[] = [
    ...["AskUserQuestion", "ask_user", "request_user_input", "ask_followup_question", "question"].map(
      (name) => [name, one, "Nobody can be asked"] as const,
    ),
    ["AskUser", { questions: [] }, "questions must not be empty"],
    ["AskUser", { questions: Array.from({ length: 5 }, () => ({ question: "?" })) }, "At most 4"],
    ["AskUser", { questions: [{ question: "\u200b\u0007" }] }, "must not be empty"],
    ["AskUser", { questions: [{ question: "x".repeat(100_000) }] }, "At most 1000 characters"],
    ["AskUser", twice, "Every label may stand once"],
  ];
  const script = rows.map(([name, args], at) => ({
    match: `^row ${at}$`,
    steps: [call(name, args), { text: ["Done."] }],
  }));
  await using server = await serverWhoseModelAsks(script);
  for (const [at, [, , words]] of rows.entries()) {
    const events = await runTurn(server, await startSession(server), `row ${at}`);
    expect(eventOf(events, "toolResult").output).toContain(words);
  }
});
