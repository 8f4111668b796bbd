import { AgentSession } from "@gennai/client/session/agent-session";
import { SessionView } from "@gennai/client/view/session-view";
import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { temporaryDirectory, temporaryRepository } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { runTurn } from "#client/run-turn";
import { chooseServer, serverRequest } from "#connection/server-choice";
import { Interrupts } from "#terminal/interrupts";
import { testConsole } from "../test-console.ts";

test("a turn runs on the editor's own model, tool calls through the gate as ever", async () => {
  await using state = await temporaryDirectory();
  await using repository = await temporaryRepository({ "a.ts": "on disk\n" });
  await repository.git("switch", "--quiet", "--create", "work");
  const { signal } = new AbortController();
  const place = { workspace: repository.root, stateDir: state.root, signal };
  await using server = await chooseServer(serverRequest({ server: "own" }, place), testConsole(repository.root));
  const asked: { messages: { role: string; output?: string }[] }[] = [];
  const editor = {
    async callModel({ requestJson }: { readonly requestJson: string }) {
      const request = JSON.parse(requestJson);
      asked.push(request);
      const finish = { type: "finish", reason: "stop" };
      if (asked.length > 1) return JSON.stringify([{ type: "text-delta", text: "It says: on disk." }, finish]);
      const call = { id: "1", name: "Read", argumentsJson: '{"file_path":"a.ts"}' };
      return JSON.stringify([
        { type: "tool-call", ...call },
        { ...finish, reason: "tool-calls" },
      ]);
    },
  };
  const identity = { clientId: "editor", name: "test", version: "0", editor };
  const settings = { workingDir: repository.root, backend: "editor" } as const;
  const session = await AgentSession.start(server.client, identity, settings, { interactive: true, signal });
  using interrupts = new Interrupts();
  const heard = new SessionView();
  const view = {
    session: heard,
    show: (event: InvokeEvent) => void heard.apply(event),
    note: (text: string) => expect.fail(text),
  };
  const report = await runTurn(session, { text: "what does a.ts say?" }, { view, interrupts, signal });
  expect(report.text).toContain("It says: on disk.");
  expect(asked[1]?.messages.at(-1)).toMatchObject({ role: "tool", output: expect.stringContaining("on disk") });
});
