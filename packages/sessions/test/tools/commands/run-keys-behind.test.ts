import type { CallResult, GovernedTools } from "@gennai/governance/gate/gate";
import type { Analysis, ExecutionContext } from "@gennai/governance/tool";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { keysBehind, runKeysBehind } from "#tools/commands/run-keys-behind";

const done: Omit<CallResult, "call"> = {
  output: "done\n[exit code 0]",
  error: undefined,
  refused: false,
  failureClass: undefined,
  exitCode: 0,
  verification: { state: "verified", evidence: "" },
  images: [],
  dropped: [],
};

/** Runs `prettier -w . && git push && git push --tags`, or another chain. @param answers by the command */
async function runChain(
  answers: Readonly<Record<string, (controller: AbortController) => Promise<Partial<CallResult>>>>,
  command = "prettier -w . && git push && git push --tags",
  behind = ["git push", "git push --tags"],
) {
  const controller = new AbortController();
  const ran: string[] = [];
  const calls: Pick<GovernedTools, "run"> = {
    async run([call], { shownAs }) {
      if (call === undefined) throw new Error("there is one call");
      expect(shownAs).toBe("c");
      const { command: part } = z.object({ command: z.string() }).parse(JSON.parse(call.argumentsJson));
      ran.push(part);
      return [{ call, ...done, ...(await answers[part]?.(controller)) }];
    },
  };
  // As the gate hands them over; nothing else of them is looked at here.
  const analysis = { statement: "", effects: [{ type: "exec", behind }] } as unknown as Analysis;
  const context = { callId: "c", turnId: "t", signal: controller.signal } as ExecutionContext;
  const outcome = await runKeysBehind({ command }, keysBehind(analysis), { gate: calls, context });
  return { outcome, ran };
}

const first = "prettier -w .";

describe("what stands behind a command and needs a login", () => {
  test("runs in order, each part as a call of its own; what one changed is in its own record alone", async () => {
    const { outcome, ran } = await runChain({});
    expect(ran).toEqual([first, "git push", "git push --tags"]);
    expect(outcome).toMatchObject({ exitCode: 0 });
    expect(outcome.failure ?? outcome.facts ?? outcome.changes).toBeUndefined();
    expect(outcome.output).toMatch(/done[^]*\[then, by itself: `git push`\][^]*\[then, by itself: `git push --tags`\]/);
  });

  test("two of them, and nothing before: the second is asked about when the first has succeeded", async () => {
    const chain = "git push && git push origin next";
    const { outcome, ran } = await runChain({}, chain, ["git push", "git push origin next"]);
    expect(ran).toEqual(["git push", "git push origin next"]);
    expect(outcome.output).toMatch(/^\[by itself: `git push`\]\ndone[^]*\[then, by itself: `git push origin next/);
    const refused = await runChain({ "git push": async () => ({ exitCode: 1 }) }, chain, [
      "git push",
      "git push origin next",
    ]);
    expect(refused.ran).toEqual(["git push"]);
    expect(refused.outcome.output).toContain(
      "[`git push origin next` did not run: what stands before it did not succeed]",
    );
  });

  test("a stop before the question sends nothing", async () => {
    const { outcome, ran } = await runChain({
      [first]: async (controller) => {
        controller.abort();
        return {};
      },
    });
    expect(ran).toEqual([first]);
    expect(outcome).toMatchObject({ failure: { failureClass: "partial_execution" } });
    expect(outcome.output).toContain("[`git push` did not run: the call was stopped");
    expect(outcome.exitCode).toBeUndefined();
  });

  test("a stop while it is asked about does so, too", async () => {
    const { outcome, ran } = await runChain({
      "git push": async (controller) => {
        controller.abort();
        const error = { code: "stopped", message: "Stopped.", retryable: false };
        return { error, failureClass: "partial_execution", output: "", exitCode: undefined, refused: true };
      },
    });
    expect(ran).toEqual([first, "git push"]);
    expect(outcome).toMatchObject({ failure: { failureClass: "partial_execution", message: "`git push`: Stopped." } });
    expect(outcome.output).toContain("done");
    expect(outcome.exitCode).toBeUndefined();
  });

  test("a record that cannot be written loses nothing of what was said before", async () => {
    const { outcome, ran } = await runChain({ "git push": () => Promise.reject(new Error("the disk is full")) });
    expect(ran).toEqual([first, "git push"]);
    expect(outcome).toMatchObject({ failure: { failureClass: "partial_execution" } });
    expect(outcome.output).toContain("done");
    expect(outcome.failure?.message).toContain("the disk is full");
    expect(outcome.exitCode).toBeUndefined();
  });

  test.each([
    ["before all", first, [first]],
    ["before the second", "git push", [first, "git push"]],
  ])("nothing is sent once the user dropped a part: %s", async (_name, where, want) => {
    const { outcome, ran } = await runChain({ [where]: async () => ({ dropped: ["a.ts"] }) });
    expect(ran).toEqual(want);
    expect(outcome).toMatchObject({ failure: { failureClass: "permission_denied" } });
    expect(outcome.output).toContain("did not run: not all that stands before it had changed was kept");
  });
});
