import { createContainmentPolicy } from "@gennai/governance/policies/files/containment";
import { createFreshnessPolicy } from "@gennai/governance/policies/files/freshness";
import { computeRisk } from "@gennai/governance/policies/risk";
import type { Tool } from "@gennai/governance/tool";
import { ToolFailure, toolErrorJson } from "@gennai/governance/tool-error";
import { executionContext } from "@gennai/testkit/execution-context";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { requestScopeExpansionTool, selectActiveIntentTool } from "#tools/session/intent-tools";
import { isToolFact } from "#tools/tool-fact";
import { recordLessonTool } from "#tools/writing/record-lesson-tool";
import { inputWith } from "../../../../governance/test/policies/effects.ts";
import { IntentsBench, intentsText } from "../../intents/intents-bench.ts";
import { sha256, ToolBench } from "../tool-bench.ts";

const context = executionContext();

async function run<Args>(tool: Tool<Args>, args: unknown) {
  const parsed = tool.parameters.parse(args);
  const analysis = await tool.analyse(parsed, context);
  const outcome = await tool.execute(parsed, analysis, context);
  return { analysis, outcome, verification: await tool.verify?.(parsed, outcome, context) };
}

async function errorOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
    return "no failure";
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error;
    return JSON.parse(toolErrorJson(error.toToolError()));
  }
}

describe("select_active_intent and request_scope_expansion", () => {
  let bench: IntentsBench;
  beforeEach(() => {
    bench = new IntentsBench();
    bench.write(bench.file, intentsText);
  });
  afterEach(() => {
    bench[Symbol.dispose]();
  });

  it("seed 001 context: select_active_intent loads active_intents.yaml and returns a compact <intent_context> block", async () => {
    const { analysis, outcome } = await run(selectActiveIntentTool({ intents: bench.service() }), {
      intent_id: "INT-001",
    });
    expect(analysis).toEqual({ statement: "Select the intent INT-001: Login", effects: [{ type: "session" }] });
    expect(outcome.output).toMatch(
      /^<intent_context>\n {2}<id>INT-001<\/id>[\s\S]*src\/\*\*[\s\S]*no new dependency[\s\S]*tests pass/,
    );
    const [fact] = outcome.facts ?? [];
    expect(isToolFact(fact)).toBe(true);
    expect(fact).toMatchObject({ type: "intent-selected", intent: { id: "INT-001" }, context: outcome.output });
  });

  it.each([
    ["unknown", { intent_id: "INT-9" }],
    ["not selectable", { intent_id: "INT-002" }],
    ["missing", {}],
    ["empty", { intent_id: "" }],
    ["a path", { intent_id: "../../x" }],
  ])(
    "seed 001 tool-errors: for rejected checks, return standardized JSON tool-errors so the model can recover: %s",
    async (_name, args) => {
      expect(await errorOf(run(selectActiveIntentTool({ intents: bench.service() }), args))).toEqual({
        error: {
          code: "invalid_intent",
          message: "You must cite a valid active Intent ID.",
          hint: "Call select_active_intent first, with one of: INT-001.",
          retryable: true,
        },
      });
    },
  );

  it("seed 001 expansion: scope expansion shows what it would change, is of high risk, and writes after the yes only", async () => {
    const tool = requestScopeExpansionTool({ intents: bench.service(), activeIntent: () => "INT-001" });
    const args = { paths: ["docs/**"], reason: "the manual" };
    const analysis = await tool.analyse(args, context);
    expect(analysis.statement).toBe(
      "Extend the scope of INT-001 (Login) by +docs/**; it owns src/**, !src/secret/** now.",
    );
    expect([analysis.claim, computeRisk(analysis)]).toEqual(["the manual", "high"]);
    expect(bench.text(bench.file)).toBe(intentsText);
    const outcome = await tool.execute(args, analysis, context);
    expect(bench.text(bench.file)).toContain("- docs/**");
    expect(outcome.facts).toEqual([expect.objectContaining({ type: "intent-selected" })]);
    expect(outcome.output).toContain("<path>docs/**</path>");
  });

  it.each([
    [undefined, ["docs/**"], "invalid_intent"],
    ["INT-001", ["../x"], "invalid_scope"],
    ["INT-001", ["src/a.ts"], "invalid_scope"],
  ])("refuses to ask for nothing: %s %j", async (active, paths, code) => {
    const tool = requestScopeExpansionTool({ intents: bench.service(), activeIntent: () => active });
    expect(await errorOf(run(tool, { paths, reason: "r" }))).toMatchObject({ error: { code } });
  });
});

describe("seed 001 lessons: AGENT.md / CLAUDE.md hold lessons: record_lesson", () => {
  let bench: ToolBench;
  beforeEach(() => {
    bench = new ToolBench();
  });
  afterEach(() => {
    bench[Symbol.dispose]();
  });
  const tool = () =>
    recordLessonTool({
      workspace: bench.workspace,
      knownFiles: bench.knownFiles,
      blobs: bench.blobs,
      editor: bench.editor,
    });

  it.each([
    ["makes AGENT.md", {}, undefined, "AGENT.md", "## Lessons\n\n- Run the tests\n"],
    [
      "takes the file that exists",
      { "CLAUDE.md": "# C\n" },
      undefined,
      "CLAUDE.md",
      "# C\n\n## Lessons\n\n- Run the tests\n",
    ],
    [
      "takes the one beside the intents where it stands alone",
      { ".orchestration/AGENT.md": "# A\n" },
      undefined,
      ".orchestration/AGENT.md",
      "# A\n\n## Lessons\n\n- Run the tests\n",
    ],
    [
      "takes the one beside the intents when told",
      { "AGENT.md": "a\n" },
      ".orchestration/CLAUDE.md",
      ".orchestration/CLAUDE.md",
      "## Lessons\n\n- Run the tests\n",
    ],
    ["takes the file it is told", { "AGENT.md": "a\n" }, "CLAUDE.md", "CLAUDE.md", "## Lessons\n\n- Run the tests\n"],
    [
      "keeps line ends",
      { "AGENT.md": "# A\r\n" },
      undefined,
      "AGENT.md",
      "# A\r\n\r\n## Lessons\r\n\r\n- Run the tests\r\n",
    ],
  ])("%s", async (_name, before, file, where, wanted) => {
    for (const [path, text] of Object.entries(before)) bench.file(path, text);
    const { analysis, outcome, verification } = await run(tool(), { lesson: "Run the tests", file });
    expect(bench.text(where)).toBe(wanted);
    expect(analysis.effects).toEqual([expect.objectContaining({ type: "write", content: wanted })]);
    expect(outcome.changes).toHaveLength(1);
    expect(verification?.state).toBe("verified");
  });

  it("passes the policies as any write, on the base it read itself, which is no base for others", async () => {
    bench.file("AGENT.md", "secret plans\n");
    const { analysis, outcome } = await run(tool(), { lesson: "x" });
    for (const policy of [createFreshnessPolicy(), createContainmentPolicy({ root: bench.root })]) {
      const input = inputWith({ toolName: "record_lesson", analysis });
      expect(await policy.decide(input, context)).toEqual({ type: "allow" });
    }
    expect(outcome.observed).toEqual([]);
    bench.knownFiles.observe({ path: "AGENT.md", source: "disk", sha256: sha256(bench.text("AGENT.md") ?? "") });
    expect((await run(tool(), { lesson: "y" })).outcome.observed).toHaveLength(1);
  });

  it("says when it is there already", async () => {
    bench.file("AGENT.md", "## Lessons\n\n- x\n");
    expect(await errorOf(run(tool(), { lesson: "x" }))).toMatchObject({ error: { code: "no_change" } });
  });
});
