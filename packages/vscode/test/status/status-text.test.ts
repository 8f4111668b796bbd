import { emptyMeter } from "@gennai/client/session/usage-meter";
import { describe, expect, it } from "vitest";
import { noGovernance } from "../../src/session/governance-facts.ts";
import { rulesText, type StatusFacts, statusText } from "../../src/status/status-text.ts";

const emergency = { readOnly: false, disableHighImpact: false, stopAll: false, blockedTools: [] };
const plain: StatusFacts = {
  link: { type: "connected", url: "http://127.0.0.1:7777", version: "1" },
  trusted: true,
  watching: false,
  backend: "offline",
  model: "",
  branch: "ai-agent/a",
  mode: "branch",
  session: { turn: undefined, questions: new Map(), openProposals: new Map(), usage: emptyMeter },
  governance: { ...noGovernance, emergency, ruleCount: 12 },
};
const usage = {
  ...emptyMeter,
  inputTokens: 900,
  outputTokens: 100,
  contextTokens: 500,
  maxContextTokens: 2_000,
  cost: 0.042,
  currency: "USD",
};
const turn = { turnId: "t", phase: "running", toolName: "Bash", iteration: 1, since: undefined } as const;
const questions = new Map([["q", "Run rm?"]]);

describe("statusText", () => {
  it.each<{
    readonly name: string;
    readonly facts: Partial<StatusFacts>;
    readonly text: string;
    readonly tone?: string;
  }>([
    { name: "idle", facts: {}, text: "$(comment-discussion) offline" },
    { name: "a model", facts: { model: "m" }, text: "$(comment-discussion) offline/m" },
    {
      name: "a model that is a file",
      facts: { backend: "scripted", model: "/home/u/scripts/demo.yaml" },
      text: "$(comment-discussion) scripted/demo.yaml",
    },
    {
      name: "untrusted",
      facts: { trusted: false, link: { type: "idle" } },
      text: "$(workspace-untrusted) Gennai: not trusted",
    },
    {
      name: "no server",
      facts: { link: { type: "failed", problem: { type: "untrusted" } } },
      text: "$(debug-disconnect) Gennai: no server",
      tone: "warning",
    },
    {
      name: "what was used",
      facts: { session: { ...plain.session, usage } },
      text: "$(comment-discussion) offline $(pie-chart) 25 % about 0.042 USD",
    },
    {
      name: "what was used, of a model whose size and price nobody knows",
      facts: { session: { ...plain.session, usage: { ...usage, maxContextTokens: 0, cost: undefined } } },
      text: "$(comment-discussion) offline",
    },
    {
      name: "what was used gives way to a question",
      facts: { session: { ...plain.session, usage, questions } },
      text: "$(question) Gennai needs your answer",
      tone: "warning",
    },
    { name: "a turn", facts: { session: { ...plain.session, turn } }, text: "$(loading~spin) Gennai: Runs Bash" },
    {
      name: "a question goes before a turn",
      facts: { session: { ...plain.session, turn, questions } },
      text: "$(question) Gennai needs your answer",
      tone: "warning",
    },
    {
      name: "an emergency goes before a question",
      facts: {
        session: { ...plain.session, questions },
        governance: { ...plain.governance, emergency: { ...emergency, readOnly: true, blockedTools: ["Bash"] } },
      },
      text: "$(stop-circle) Gennai: read-only …",
      tone: "error",
    },
    { name: "names make no icons", facts: { backend: "$(bug)", branch: "" }, text: "$(comment-discussion) $ (bug)" },
    { name: "watching", facts: { watching: true, branch: "" }, text: "$(eye) Gennai: watching" },
  ])("$name", ({ facts, text, tone = "plain" }) => {
    const command = text.includes("needs your answer") ? "gennai.openRepl" : "gennai.showMenu";
    expect(statusText({ ...plain, ...facts })).toMatchObject({ text, tone, command });
  });

  it("leaves the branch to the editor's own Git, and to the tooltip", () => {
    const { text, label, rows } = statusText(plain);
    expect(`${text} ${label}`).not.toContain("ai-agent/a");
    expect(rows).toContainEqual(["Editing", "on ai-agent/a"]);
  });
});

describe("rulesText: seed 004 §4 status", () => {
  const of = (change: Partial<StatusFacts["governance"]>, link = plain.link) =>
    rulesText({ link, governance: { ...plain.governance, ...change } });

  it.each([
    ["🛡️ Damage-Control Active: 142 Rules", "$(shield) 142"],
    ["⚠️ Last Violation: git reset --hard", "⚠️ Last Violation: git reset --hard"],
    ["⚠️ Last Violation: echo $(bug)", "⚠️ Last Violation: echo $ (bug)"],
  ])("says %s", (said, text) => {
    expect(of({ rulesText: said, ruleCount: 142 })).toMatchObject({ text, label: said });
  });

  it("marks the shield where a rule file has problems", () => {
    const facts = { rulesText: "🛡️ Damage-Control Active: 9 Rules (1 error in rule files)", ruleCount: 9 };
    expect(of({ ...facts, ruleProblems: ["r.yaml:1: bad"] })?.text).toBe("$(shield) 9 $(warning)");
  });

  it("keeps what is long for the tooltip", () => {
    const said = `⚠️ Last Violation: ${"a".repeat(80)}`;
    const shown = of({ rulesText: said, lastViolation: "a", ruleProblems: ["r.yaml:1: bad"] });
    expect([...(shown?.text ?? "")]).toHaveLength(64);
    expect(shown?.details).toEqual([said, "Last violation: a", "r.yaml:1: bad"]);
  });

  it("is not there without a server, or before one said anything", () => {
    expect([of({ rulesText: "x" }, { type: "idle" }), of({ rulesText: "" })]).toEqual([undefined, undefined]);
  });
});
