import { AgentSession } from "@gennai/client/session/agent-session";
import { SessionView } from "@gennai/client/view/session-view";
import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { type FakeEditorScript, fakeEditor } from "@gennai/testkit/fake-editor";
import { temporaryDirectory, temporaryRepository } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { runTurn } from "#client/run-turn";
import { chooseServer, serverRequest } from "#connection/server-choice";
import { Interrupts } from "#terminal/interrupts";
import { testConsole } from "../test-console.ts";

/** One turn of the embedded assistant, on a real server, with an editor that answers by script. */
async function turnWith(script: FakeEditorScript, text: string) {
  await using state = await temporaryDirectory();
  await using repository = await temporaryRepository({ "a.ts": "on disk\n" });
  await repository.git("switch", "--quiet", "--create", "work");
  const { signal } = new AbortController();
  const place = { workspace: repository.root, stateDir: state.root, signal };
  await using server = await chooseServer(serverRequest({ server: "own" }, place), testConsole(repository.root));
  const editor = fakeEditor(script);
  const identity = { clientId: "editor", name: "test", version: "0", editor };
  const settings = { workingDir: repository.root };
  const session = await AgentSession.start(server.client, identity, settings, { interactive: true, signal });
  using interrupts = new Interrupts();
  const heard = new SessionView();
  const view = {
    session: heard,
    show: (event: InvokeEvent) => void heard.apply(event),
    note: (text: string) => expect.fail(text),
  };
  const report = await runTurn(session, { text }, { view, interrupts, signal });
  return { report, asked: editor.asked };
}

test("a file is read from the editor's buffer", async () => {
  const { report, asked } = await turnWith({ buffers: { "a.ts": "not saved yet\n" } }, "show a.ts");
  expect(asked).toEqual(["read a.ts"]);
  expect(report.text).toContain("not saved yet");
});

test("a command runs in the editor's terminal after a yes", async () => {
  const { report, asked } = await turnWith(
    { confirm: () => ({ answer: "yes", scope: "once" }), command: () => ({ exitCode: 4, output: "hello\n" }) },
    "run ./deploy.sh in the terminal",
  );
  expect(asked).toEqual(["confirm Run `./deploy.sh` in the user's terminal", "run ./deploy.sh"]);
  expect(report.text).toContain("hello");
});

test("a no ends the call, and its reason reaches the model", async () => {
  const { report, asked } = await turnWith(
    { confirm: () => ({ answer: "no", reason: "on Friday never" }), command: () => ({}) },
    "run ./deploy.sh in the terminal",
  );
  expect(asked).toHaveLength(1);
  expect(report.refused).toEqual(["RunInTerminal"]);
  expect(report.text).toContain("on Friday never");
});
