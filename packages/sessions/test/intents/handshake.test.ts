import type { Answer, Question } from "@gennai/governance/confirmation";
import { governTools } from "@gennai/governance/gate/gate";
import { createIntentsPolicy } from "@gennai/governance/intents/intents-policy";
import { createScopeExpansionPolicy } from "@gennai/governance/intents/scope-expansion-policy";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { IntentsService } from "#intents/intents-service";
import { requestScopeExpansionTool, selectActiveIntentTool } from "#tools/session/intent-tools";
import { isToolFact } from "#tools/tool-fact";
import { gateWith, silentJournal } from "../../../governance/test/gate/gate-with.ts";
import { ToolBench } from "../tools/tool-bench.ts";
import { IntentsBench, intentsText } from "./intents-bench.ts";

/** A session's tools behind the gate, with the policies of intents. Facts reach the session as its log would bring them. */
class GovernedSession {
  readonly bench = new ToolBench();
  readonly state = new IntentsBench();
  readonly questions: Question[] = [];
  answer: Answer = { type: "yes", scope: "session", by: "ann" };
  active: string | undefined;
  readonly intents = IntentsService.open({ workspace: this.bench.workspace, stateDir: this.state.stateDir });
  readonly #gate;

  constructor() {
    this.bench.file(".orchestration/active_intents.yaml", intentsText);
    const activeIntent = () => this.active;
    for (const tool of [
      selectActiveIntentTool({ intents: this.intents }),
      requestScopeExpansionTool({ intents: this.intents, activeIntent }),
    ]) {
      this.bench.tools.set(tool.name, tool);
    }
    this.#gate = governTools(
      gateWith({
        tools: this.bench.tools,
        policies: [
          createIntentsPolicy({ root: this.bench.root, rules: () => this.intents.rules(this.active) }),
          createScopeExpansionPolicy(),
        ],
        confirmer: {
          ask: async (question) => {
            this.questions.push(question);
            return this.answer;
          },
        },
        journal: {
          ...silentJournal,
          end: async (outcomes) => {
            for (const fact of outcomes.flatMap(({ result }) => result.outcome?.facts ?? [])) {
              if (isToolFact(fact) && fact.type === "intent-selected") this.active = fact.intent.id;
            }
          },
          warn: (text) => {
            throw new Error(text);
          },
        },
        policySha256: "",
      }),
    );
  }

  /** `ran`, or code and message of the refusal. All calls are one answer of a model. */
  async calls(...calls: readonly (readonly [name: string, args: object])[]): Promise<readonly string[]> {
    const results = await this.#gate.run(
      calls.map(([name, args], index) => ({ id: `${index}`, name, argumentsJson: JSON.stringify(args) })),
      { turnId: "t", signal: new AbortController().signal },
    );
    return results.map(({ error }) => (error === undefined ? "ran" : `${error.code}: ${error.message}`));
  }

  [Symbol.dispose](): void {
    this.bench[Symbol.dispose]();
    this.state[Symbol.dispose]();
  }
}

const write = (file_path: string) => ["Write", { file_path, content: "x\n" }] as const;
const select = (intent_id: string) => ["select_active_intent", { intent_id }] as const;
const more = (...paths: readonly string[]) => ["request_scope_expansion", { paths, reason: "needed" }] as const;
const cite = "You must cite a valid active Intent ID.";
const violation = (file: string) =>
  `scope_violation: Scope Violation: INT-001 is not authorized to edit ${file}. Request scope expansion.`;

describe("seed 001 handshake: two-stage state machine (handshake)", () => {
  let session: GovernedSession;
  beforeEach(() => {
    session = new GovernedSession();
  });
  afterEach(() => {
    session[Symbol.dispose]();
  });

  it("request, handshake, contextualized action: also within one answer of the model", async () => {
    expect(
      await session.calls(
        write("src/a.ts"),
        ["LS", { path: "." }],
        select("INT-002"),
        select("INT-001"),
        write("src/a.ts"),
      ),
    ).toEqual([`intent_required: ${cite}`, "ran", `invalid_intent: ${cite}`, "ran", "ran"]);
    expect(session.bench.text("src/a.ts")).toBe("x\n");
    expect(await session.calls(write("docs/a.md"), write("src/secret/key"))).toEqual([
      violation("docs/a.md"),
      violation("src/secret/key"),
    ]);
    expect(session.bench.text("docs/a.md")).toBeUndefined();
  });

  it("scope grows by a person's yes only, and no yes is remembered", async () => {
    session.active = "INT-001";
    session.answer = { type: "no", reason: "not yours", by: "ann" };
    expect(await session.calls(more("docs/**"), write("docs/a.md"))).toEqual([
      "user_denied: User denied execution: not yours",
      violation("docs/a.md"),
    ]);
    session.answer = { type: "yes", scope: "session", by: "ann" };
    expect(await session.calls(more("docs/**"))).toEqual([
      'user_denied: User denied execution: The scope "session" was not offered for this action.',
    ]);
    session.answer = { type: "yes", scope: "once", by: "ann" };
    expect(await session.calls(more("docs/**"), write("docs/a.md"), more("**"))).toEqual(["ran", "ran", "ran"]);
    expect(
      session.questions.map(({ computed, offeredScopes }) => [computed.risk, computed.rule, offeredScopes]),
    ).toEqual(Array.from({ length: 4 }, () => ["high", "intents/scope-expansion", ["once"]]));
    expect(session.questions[0]?.computed.reason).toContain("+docs/**");
    expect(session.bench.text(".orchestration/active_intents.yaml")).toContain("- docs/**");
  });

  it("a person who finishes the intent ends what it allowed at once", async () => {
    session.active = "INT-001";
    session.bench.file(".orchestration/active_intents.yaml", intentsText.replace("active\n", "done\n"));
    expect(await session.calls(write("src/a.ts"))).toEqual([`intent_required: ${cite}`]);
  });

  it("proposals and commands need an intent as well", async () => {
    const propose = [
      "ProposeChanges",
      { changes: [{ path: "src/a.ts", operation: "create", new_content: "x" }] },
    ] as const;
    expect(await session.calls(propose, ["Bash", { command: "touch src/a.ts" }])).toEqual([
      `intent_required: ${cite}`,
      `intent_required: ${cite}`,
    ]);
    session.active = "INT-001";
    expect(await session.calls(propose, ["Bash", { command: "touch lib.ts" }])).toEqual(["ran", violation("lib.ts")]);
  });
});
