import type { CallResult, GovernedTools } from "@gennai/governance/gate/gate";
import type { Analysis, ExecutionContext, Tool, ToolOutcome } from "@gennai/governance/tool";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { withKeysBehind } from "#tools/commands/run-keys-behind";

/** What the first command did: a file is on disk, and only this outcome says so. */
const kept: ToolOutcome = {
  output: "formatted\n[exit code 0]",
  exitCode: 0,
  changes: [{ path: "a.ts", operation: "update", beforeSha256: "0", afterSha256: "1", blocks: [] }],
  observed: [{ path: "a.ts", source: "disk", sha256: "1" }],
  facts: [{ type: "change-set", files: [] }],
};
const { changes, observed, facts } = kept;
const told = { changes, observed, facts };

const pushed: Omit<CallResult, "call"> = {
  output: "pushed\n[exit code 0]",
  error: undefined,
  refused: false,
  failureClass: undefined,
  exitCode: 0,
  verification: { state: "verified", evidence: "" },
  facts: [],
  dropped: [],
};

/** Runs `prettier -w . && git push && npm publish`. */
async function runChain(
  first: ToolOutcome,
  push: (controller: AbortController) => Promise<Partial<CallResult>>,
  { stopped = false }: { readonly stopped?: boolean } = {},
) {
  const controller = new AbortController();
  const ran: string[] = [];
  const bash: Tool = {
    name: "Bash",
    description: "",
    parameters: z.unknown(),
    access: "change",
    analyse: () => Promise.reject(new Error("it is analysed already")),
    async execute() {
      if (stopped) controller.abort();
      return first;
    },
  };
  const calls: Pick<GovernedTools, "run"> = {
    async run([call]) {
      if (call === undefined) throw new Error("there is one call");
      ran.push(z.object({ command: z.string() }).parse(JSON.parse(call.argumentsJson)).command);
      return [{ call, ...pushed, ...(await push(controller)) }];
    },
  };
  const command = "prettier -w . && git push && npm publish";
  const behind = ["git push", "npm publish"];
  // As the gate hands them over; nothing else of them is looked at here.
  const analysis = { statement: "", effects: [{ type: "exec", behind }] } as unknown as Analysis;
  const context = { callId: "c", turnId: "t", signal: controller.signal } as ExecutionContext;
  const outcome = await withKeysBehind(bash, () => calls).execute({ command }, analysis, context);
  return { outcome, ran };
}

describe("what stands behind a command and needs a login", () => {
  test("runs in order, and the outcome has what the command before changed", async () => {
    const { outcome, ran } = await runChain(kept, async () => ({}));
    expect(ran).toEqual(["git push", "npm publish"]);
    expect(outcome).toMatchObject({ ...told, exitCode: 0 });
    expect(outcome.failure).toBeUndefined();
  });

  test("a stop before the question keeps what the command before changed in the record", async () => {
    const { outcome, ran } = await runChain(kept, async () => ({}), { stopped: true });
    expect(ran).toEqual([]);
    expect(outcome).toMatchObject({ ...told, failure: { failureClass: "partial_execution" } });
    expect(outcome.output).toContain("[`git push` did not run: the call was stopped");
    expect(outcome.exitCode).toBeUndefined();
  });

  test("a stop while it is asked about does so, too", async () => {
    const { outcome, ran } = await runChain(kept, async (controller) => {
      controller.abort();
      const error = { code: "stopped", message: "Stopped.", retryable: false };
      return { error, failureClass: "partial_execution", output: "", exitCode: undefined, refused: true };
    });
    expect(ran).toEqual(["git push"]);
    expect(outcome).toMatchObject({
      ...told,
      failure: { failureClass: "partial_execution", message: "`git push`: Stopped." },
    });
    expect(outcome.exitCode).toBeUndefined();
  });

  test("a stop after a push that succeeded keeps its output, and runs nothing more", async () => {
    const { outcome, ran } = await runChain(kept, async (controller) => {
      controller.abort();
      return {};
    });
    expect(ran).toEqual(["git push"]);
    expect(outcome).toMatchObject({ ...told, failure: { failureClass: "partial_execution" } });
    expect(outcome.output).toMatch(/pushed\n\[exit code 0\][^]*\[`npm publish` did not run: the call was stopped/);
  });

  test("a record that cannot be written loses nothing of the command before", async () => {
    const { outcome, ran } = await runChain(kept, () => Promise.reject(new Error("the disk is full")));
    expect(ran).toEqual(["git push"]);
    expect(outcome).toMatchObject({ ...told, failure: { failureClass: "partial_execution" } });
    expect(outcome.output).toContain("formatted");
    expect(outcome.failure?.message).toContain("the disk is full");
    expect(outcome.exitCode).toBeUndefined();
  });

  test.each([
    ["before all", { ...kept, dropped: ["a.ts"] }, {}, []],
    ["before the second", kept, { dropped: ["refs"] }, ["git push"]],
  ])("nothing is sent once the user dropped a part: %s", async (_name, first, push, want) => {
    const { outcome, ran } = await runChain(first, async () => push);
    expect(ran).toEqual(want);
    expect(outcome).toMatchObject({ ...told, failure: { failureClass: "permission_denied" } });
    expect(outcome.output).toContain("did not run: the user did not keep all that stands before it had changed");
  });
});
