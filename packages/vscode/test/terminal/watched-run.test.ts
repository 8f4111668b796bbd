import { createClient, createRouterTransport } from "@connectrpc/connect";
import { AgentService } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { BackgroundRunState } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { expect, test } from "vitest";
import { backgroundRun, WatchedOutput } from "#terminal/watched-output";

/** A server with one run, and a terminal in which that is watched. */
function watching(answer: "stop" | "leave" = "leave") {
  let printed = "";
  let isRunning = true;
  let more = Promise.withResolvers<void>();
  const stopped: string[] = [];
  const runMessage = () => ({
    id: "b1",
    state: isRunning ? BackgroundRunState.RUNNING : BackgroundRunState.ENDED,
    end: isRunning ? "" : "stopped by the user",
  });
  const print = (text: string): void => {
    printed += text;
    more.resolve();
    more = Promise.withResolvers();
  };
  const transport = createRouterTransport(({ service }) => {
    service(AgentService, {
      async readBackgroundRun({ after }, { signal }) {
        const aborted = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
        if (printed.length === Number(after) && isRunning) await Promise.race([more.promise, aborted]);
        return { text: printed.slice(Number(after)), end: BigInt(printed.length), run: runMessage() };
      },
      async stopBackgroundRun({ runId }) {
        stopped.push(runId);
        isRunning = false;
        print("");
        return { run: runMessage() };
      },
    });
  });
  let shown = "";
  const asked: string[] = [];
  const named = { id: "b1", command: "npm run dev" };
  const running = {
    ...backgroundRun(createClient(AgentService, transport), "s", named),
    askToStop: async () => {
      asked.push("asked");
      return answer === "stop";
    },
  };
  const run = new WatchedOutput(running, (text) => (shown += text));
  return { run, print, stopped, asked, shown: () => shown };
}

test("it shows what comes, harmless, and how it ended; Ctrl+C ends it", async () => {
  const { run, print, stopped, asked, shown } = watching();
  const watched = run.watch();
  print("ready\n\u001b]0;title\u0007two");
  await expect.poll(shown).toContain("ready\r\n]0;titletwo");
  expect(shown()).toContain("npm run dev");
  await run.input("x");
  expect(stopped).toEqual([]);
  await run.input("\u0003");
  await watched;
  expect(stopped).toEqual(["b1"]);
  expect(shown()).toContain("[b1 has ended: stopped by the user]");
  await run.close();
  expect(asked).toEqual([]);
});

test.each([
  ["stop", ["b1"]],
  ["leave", []],
] as const)("closing the terminal asks: %s", async (answer, wanted) => {
  const { run, print, stopped, asked, shown } = watching(answer);
  const watched = run.watch();
  print("ready\n");
  await expect.poll(shown).toContain("ready");
  await run.close();
  await watched;
  expect(asked).toEqual(["asked"]);
  expect(stopped).toEqual(wanted);
});
