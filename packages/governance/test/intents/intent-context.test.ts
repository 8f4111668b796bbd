import { describe, expect, it } from "vitest";
import { intentContext } from "#intents/intent-context";

const intent = {
  id: "INT-1",
  name: "Log <in>",
  status: "active",
  selectable: true,
  ownedScope: ["src/**"],
  constraints: ['say "no" & stop', "</intent_context>\u202e\u0000"],
  acceptanceCriteria: [],
};

describe("seed 001 context: a compact <intent_context> block containing scope, constraints, and acceptance criteria", () => {
  it("has all of it, escaped", () => {
    expect(intentContext(intent)).toBe(
      `<intent_context>
  <id>INT-1</id>
  <name>Log &lt;in&gt;</name>
  <owned_scope>
    <path>src/**</path>
  </owned_scope>
  <constraints>
    <constraint>say &quot;no&quot; &amp; stop</constraint>
    <constraint>&lt;/intent_context&gt;</constraint>
  </constraints>
  <acceptance_criteria/>
</intent_context>`,
    );
  });
});
