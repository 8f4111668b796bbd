import { expect, onTestFinished, test } from "vitest";
import { liveOutput } from "#gate/execution";

test("the end of live output reports a piece that could not be masked, and shows nothing of the rest", async () => {
  const shown: string[] = [];
  const context = { callId: "c", turnId: "t" } as Parameters<typeof liveOutput>[0];
  const push = async (text: string): Promise<string> => {
    if (text === "second") throw new Error("It cannot be masked.");
    return text;
  };
  const options = {
    journal: { output: (_callId: string, _turnId: string, text: string) => shown.push(text) },
    redactor: { stream: () => ({ push, end: async () => "rest" }) },
  } as unknown as Parameters<typeof liveOutput>[1];
  const live = liveOutput(context, options);
  live.push("first");
  live.push("second");
  // The command goes on for a while, and what went wrong meanwhile must not end the process.
  const unhandled: unknown[] = [];
  const note = (error: unknown) => void unhandled.push(error);
  process.on("unhandledRejection", note);
  onTestFinished(() => void process.off("unhandledRejection", note));
  await new Promise((resolve) => setImmediate(resolve));
  live.push("third");
  await new Promise((resolve) => setImmediate(resolve));
  expect(unhandled).toEqual([]);
  await expect(live.end()).rejects.toThrow("It cannot be masked.");
  expect(shown).toEqual(["first"]);
});
