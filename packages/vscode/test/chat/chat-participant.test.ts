import { create } from "@bufbuild/protobuf";
import { InvokeEventSchema } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { expect, test, vi } from "vitest";
import { answerInChat } from "#chat/chat-participant";

vi.mock("vscode", () => ({ Uri: class {}, Location: class {} }));
vi.mock("@gennai/client/session/watched-turn", () => ({
  watchedTurn: async function* () {
    yield create(InvokeEventSchema, {
      event: { case: "userQuestionRequest", value: { requestId: "q", questions: [{ question: "Which database?" }] } },
    });
  },
}));

test("a question of the model is shown with the way to its answer", async () => {
  const said: unknown[] = [];
  const buttons: unknown[] = [];
  await answerInChat(
    {
      root: "/w",
      session: (async () => ({ sessionId: "s" })) as never,
      settings: (() => ({ scenario: "", showThinking: false })) as never,
    },
    { prompt: "Go on", references: [] },
    {
      markdown: (text) => void said.push(text),
      progress: () => undefined,
      button: (command) => void buttons.push(command),
    },
    { isCancellationRequested: false, onCancellationRequested: (() => ({ dispose: () => undefined })) as never },
  );
  expect(said).toContainEqual(expect.stringContaining("Which database?"));
  expect(buttons).toEqual([{ title: "Answer in Gennai", command: "gennai.openRepl" }]);
});
