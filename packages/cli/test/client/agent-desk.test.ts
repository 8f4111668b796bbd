import type { ConfirmationQuestion } from "@gennai/client/bridge/editor";
import { capabilitiesOf } from "@gennai/protocol/model/editor-messages";
import { oneAfterTheOther, raceJobs } from "@gennai/testkit/race-jobs";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test, vi } from "vitest";
import { AgentDesk, type DeskOptions } from "#client/agent-desk";
import { confirmAtTerminal } from "#client/terminal-confirmation";
import { Interrupts } from "#terminal/interrupts";
import { testConsole } from "../test-console.ts";

vi.mock("#client/terminal-confirmation", { spy: true });

async function deskScene(options: Partial<Pick<DeskOptions, "yes" | "ask" | "json" | "promptsForRequests">>) {
  const parts = new AsyncDisposableStack();
  const directory = parts.use(await temporaryDirectory());
  const state = parts.use(await temporaryDirectory());
  const interrupts = parts.use(new Interrupts());
  const desk = parts.use(
    new AgentDesk({
      console: testConsole(directory.root),
      interrupts,
      workspace: directory.root,
      stateDir: state.root,
      yes: false,
      ask: false,
      json: false,
      promptsForRequests: false,
      ...options,
    }),
  );
  return { desk, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

test.each([
  ["there", { ask: true }, true],
  ["there, whatever may be done unasked", { ask: true, yes: true }, true],
  ["not there", {}, false],
  ["not there, and all is permitted", { yes: true }, false],
  ["not there, but a pipe of requests", { promptsForRequests: true }, false],
])("questions of the model are for a desk with a person: %s", async (_name, options, offers) => {
  await using scene = await deskScene(options);
  // Another window's person is to answer, where this desk has none.
  expect(capabilitiesOf(scene.desk.identity().editor ?? {})).toMatchObject({ askUser: offers, applyChanges: true });
});

test("a person is asked one question at a time, in the order they came, also after one that went wrong", async () => {
  await using scene = await deskScene({ ask: true });
  const { desk } = scene;
  const jobs = new Map<string, () => Promise<void>>();
  vi.mocked(confirmAtTerminal).mockImplementation(async ({ requestId }) => {
    await jobs.get(requestId)?.();
    return { answer: "no", reason: requestId };
  });
  const replies: unknown[] = [];
  const ask = async (job: () => Promise<void>, number: number) => {
    const question = { requestId: String(number) } as ConfirmationQuestion;
    jobs.set(question.requestId, job);
    replies.push(await desk.editor.confirm(question, { signal: new AbortController().signal }));
  };
  expect(await raceJobs(ask)).toEqual(oneAfterTheOther);
  expect(replies).toEqual(["1", "3", "4"].map((reason) => ({ answer: "no", reason })));
});
