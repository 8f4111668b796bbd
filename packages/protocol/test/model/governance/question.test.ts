import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { ConfirmationRequestSchema, ConfirmationScope, RiskLevel } from "#gen/gennai/agent/v1/governance_pb";
import { type Question, questionFromMessage, questionToMessage } from "#model/governance/question";

const question: Question = {
  callId: "call-1",
  title: "Allow Bash?",
  intentReflection: "intent",
  actionStatement: "action",
  impactStatement: "impact",
  modelClaim: "claim",
  computed: { risk: "medium", paths: ["a", "b"], rule: "rule", reason: "reason", policySha256: "sha" },
  actionJson: '{"tool":"Bash"}',
  maskedStatement: "Run it",
  actionSha256: "digest",
  diff: "--- a/x\n+++ b/x\n",
  parts: [
    { id: "1", name: "a", rule: "", reason: "", needs: [] },
    { id: "2", name: ".git", rule: "r", reason: "why", needs: ["1"] },
  ],
  rememberStatement: "remember",
  offeredScopes: ["once", "turn", "session", "workspace"],
  patterns: [
    { id: "p", text: "rm *.o", rule: "r", matchedBefore: ["x"], wouldMatch: ["y", "z"], wouldNotMatch: ["w"] },
  ],
};

function overTheWire(sent: Question) {
  const message = create(ConfirmationRequestSchema, questionToMessage(sent));
  return fromBinary(ConfirmationRequestSchema, toBinary(ConfirmationRequestSchema, message));
}

test("a question arrives as it was asked", () => {
  expect(questionFromMessage(overTheWire(question))).toEqual(question);
  const { patterns: _, ...without } = question;
  expect(questionFromMessage(overTheWire(without))).toEqual({ ...question, patterns: [] });
});

test("every field of the message is one of the question, but what the request and its clock need", () => {
  const message = overTheWire(question);
  const set = ConfirmationRequestSchema.fields.filter(({ localName }) => {
    const value = message[localName as "title"] as unknown;
    return Array.isArray(value) ? value.length > 0 : value !== "" && value !== undefined && value !== 0n;
  });
  const unset = ConfirmationRequestSchema.fields.filter((field) => !set.includes(field));
  expect(unset.map(({ localName }) => localName)).toEqual(["requestId", "ownerEpoch", "deadline"]);
});

test("the numbers are those of the protocol", () => {
  expect(overTheWire(question)).toMatchObject({
    toolCallId: "call-1",
    computed: { risk: RiskLevel.MEDIUM },
    offeredScopes: [
      ConfirmationScope.ONCE,
      ConfirmationScope.TURN,
      ConfirmationScope.SESSION,
      ConfirmationScope.WORKSPACE,
    ],
  });
});

test("what is not known here is of the highest risk, and not offered", () => {
  const message = create(ConfirmationRequestSchema, {
    computed: { risk: 9 as RiskLevel },
    offeredScopes: [9 as ConfirmationScope, ConfirmationScope.ONCE],
  });
  expect(questionFromMessage(message)).toMatchObject({ computed: { risk: "high" }, offeredScopes: ["once"] });
  expect(questionFromMessage(create(ConfirmationRequestSchema)).computed.risk).toBe("high");
});
