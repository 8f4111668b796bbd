import type { ConfirmationQuestion } from "@gennai/client/connection/editor";
import { capabilitiesOf } from "@gennai/protocol/model/session/editor-messages";
import { oneAfterTheOther, raceJobs } from "@gennai/testkit/race-jobs";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test, vi } from "vitest";
import { confirmAtTerminal } from "#client/terminal-confirmation";
import { UserTerminal, type UserTerminalOptions } from "#client/user-terminal";
import { Interrupts } from "#terminal/interrupts";
import { testConsole } from "../test-console.ts";

vi.mock("#client/terminal-confirmation", { spy: true });

async function deskScene(options: Partial<Pick<UserTerminalOptions, "yes" | "ask" | "json">>) {
  const parts = new AsyncDisposableStack();
  const directory = parts.use(await temporaryDirectory());
  const state = parts.use(await temporaryDirectory());
  const interrupts = parts.use(new Interrupts());
  const terminal = parts.use(
    new UserTerminal({
      console: testConsole(directory.root),
      interrupts,
      workspace: directory.root,
      stateDir: state.root,
      yes: false,
      ask: false,
      json: false,
      ...options,
    }),
  );
  return { terminal, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

test.each([
  ["there", { ask: true }, true],
  ["there, whatever may be done unasked", { ask: true, yes: true }, true],
  ["not there", {}, false],
  ["not there, and all is permitted", { yes: true }, false],
])("questions of the model are for a terminal with a person: %s", async (_name, options, offers) => {
  await using scene = await deskScene(options);
  // Another window's person is to answer, where this terminal has none.
  expect(capabilitiesOf(scene.terminal.identity().editor ?? {})).toMatchObject({ askUser: offers, applyChanges: true });
});

test("a person is asked one question at a time, in the order they came, also after one that went wrong", async () => {
  await using scene = await deskScene({ ask: true });
  const { terminal } = scene;
  const jobs = new Map<string, () => Promise<void>>();
  vi.mocked(confirmAtTerminal).mockImplementation(async ({ requestId }) => {
    await jobs.get(requestId)?.();
    return { answer: "no", reason: requestId };
  });
  const replies: unknown[] = [];
  const ask = async (job: () => Promise<void>, number: number) => {
    const question = { requestId: String(number) } as ConfirmationQuestion;
    jobs.set(question.requestId, job);
    replies.push(await terminal.editor.confirm(question, { signal: new AbortController().signal }));
  };
  expect(await raceJobs(ask)).toEqual(oneAfterTheOther);
  expect(replies).toEqual(["1", "3", "4"].map((reason) => ({ answer: "no", reason })));
});
