import type { ConfirmationQuestion } from "@gennai/client/bridge/editor";
import { oneAfterTheOther, raceJobs } from "@gennai/testkit/race-jobs";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test, vi } from "vitest";
import { AgentDesk } from "#client/agent-desk";
import { confirmAtTerminal } from "#client/terminal-confirmation";
import { Interrupts } from "#terminal/interrupts";
import { testConsole } from "../test-console.ts";

vi.mock("#client/terminal-confirmation", { spy: true });

test("a person is asked one question at a time, in the order they came, also after one that went wrong", async () => {
  await using directory = await temporaryDirectory();
  await using state = await temporaryDirectory();
  using interrupts = new Interrupts();
  using desk = new AgentDesk({
    console: testConsole(directory.root),
    interrupts,
    workspace: directory.root,
    stateDir: state.root,
    yes: false,
    ask: true,
    json: false,
    promptsForRequests: false,
  });
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
