import { create } from "@bufbuild/protobuf";
import { SessionView } from "@gennai/client/view/session-view";
import { type InvokeEvent, InvokeEventSchema, InvokeState } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { RiskLevel, Verdict } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { expect, test } from "vitest";
import { EventPrinter } from "#client/event-printer";

type Body = InvokeEvent["event"];

function printed(bodies: readonly (readonly [number, number, object])[]): string {
  let text = "";
  const printer = new EventPrinter({
    write: (part) => (text += part),
    asTyped: (part) => part,
    paint: (_style, part) => part,
    clientId: "here",
  });
  const session = new SessionView();
  for (const [firstSeq, seq, event] of bodies) {
    const place = { firstSeq: BigInt(firstSeq), seq: BigInt(seq), itemId: "i", turnId: "t" };
    const message = create(InvokeEventSchema, { ...place, event: event as Body });
    printer.print(message, session.apply(message), session);
  }
  return text;
}

test("what mends a warning is told where commands are typed", () => {
  const lines: string[] = [];
  const printer = new EventPrinter({
    write: (part) => void lines.push(part),
    asTyped: (part) => part.replace("gennai", "npx gennai"),
    paint: (_style, part) => part,
    clientId: "here",
  });
  const event = { case: "warning", value: "It is not started." };
  const errorInfo = { code: "mcp_server_unaccepted", hint: "gennai mcp accept units" };
  const message = { firstSeq: 1n, seq: 1n, itemId: "", turnId: "t", event, errorInfo } as unknown as InvokeEvent;
  const session = new SessionView();
  printer.print(message, session.apply(message), session);
  expect(lines.join("")).toBe("! It is not started.\n  npx gennai mcp accept units\n");
});

const delta = (text: string) => ({ case: "assistantDelta", value: { text } });
const call = (id: string, command: string) => ({
  case: "toolCall",
  value: { id, name: "Bash", argumentsJson: JSON.stringify({ command }) },
});
const decision = (toolCallId: string, verdict: Verdict, reason = "") => ({
  case: "gateDecision",
  value: { toolCallId, toolName: "Bash", verdict, risk: RiskLevel.MEDIUM, rule: "r", reason },
});
const result = (id: string, more: object) => ({
  case: "toolResult",
  value: { id, output: "", error: "", verification: 0, ...more },
});

const rows = [
  [
    "text as it streams, once after a replay",
    [
      [1, 1, delta("Hel")],
      [2, 2, delta("lo")],
      [1, 3, delta("Hello!")],
    ],
    "Hello!",
  ],
  ["text without what would steer the terminal", [[1, 1, delta("a\x1b]0;x\x07\x1b[2Jb\rc")]], "a]0;x[2Jbc"],
  [
    "a command as it begins, what it prints, and its end",
    [
      [1, 1, call("c", "ls\n-la")],
      [2, 2, decision("c", Verdict.ALLOW)],
      [3, 3, { case: "status", value: { state: InvokeState.RUN_TOOL, toolCallId: "c" } }],
      [4, 4, { case: "toolOutputDelta", value: { id: "c", text: "x\n" } }],
      [5, 5, result("c", { output: "x\n", exitCode: 2 })],
    ],
    "● Bash ls -la\nx\n✗ Bash ls -la   exit code 2\n",
  ],
  [
    "a list in JSON, but not what brackets tell the model",
    [
      [1, 1, call("c", "ls")],
      [2, 2, result("c", { output: '[{"id": 1, "text": "milk"}]\n[b1 runs]\n', exitCode: 0 })],
    ],
    '✓ Bash ls\n  [{"id": 1, "text": "milk"}]\n',
  ],
  [
    "the result of a call that printed nothing as it ran",
    [
      [1, 1, call("c", "ls")],
      [2, 2, result("c", { output: "x\ny\n", exitCode: 0 })],
    ],
    "✓ Bash ls\n  x\n  y\n",
  ],
  [
    "a refusal with its reason",
    [
      [1, 1, call("c", "rm x")],
      [2, 2, decision("c", Verdict.DENY, "not here")],
      [3, 3, result("c", { error: "refused" })],
    ],
    "⊘ Bash rm x   refused\n  refused\n",
  ],
  [
    "whose result it is when calls run together",
    [
      [1, 1, call("c", "a")],
      [2, 2, call("d", "b")],
      [3, 3, decision("c", Verdict.ALLOW)],
      [4, 4, decision("d", Verdict.ALLOW)],
      [5, 5, result("c", { output: "x" })],
    ],
    "• Bash a\n  x\n",
  ],
  [
    "what the session tells besides, and nothing of what was just set here",
    [
      [1, 1, { case: "settingsChanged", value: { summary: "branch mode" } }],
      [2, 2, { case: "contextAdded", value: { items: [{ name: "a.ts" }] } }],
      [3, 3, { case: "branchChanged", value: { branch: "b", created: true, before: "main" } }],
      [4, 4, { case: "emergencyChanged", value: { control: 1, enabled: true, by: "ann" } }],
    ],
    "With the prompt: a.ts\nBranch b (created) · main has no commit, so git has no branch main now; make it with: git switch --create main\n! Read-only was switched on by ann\n",
  ],
  [
    "what was answered elsewhere, and nothing of what was answered here",
    [
      [1, 1, { case: "confirmationRequest", value: { requestId: "a", title: "Push?" } }],
      [2, 2, { case: "confirmationRequest", value: { requestId: "b", title: "Push?" } }],
      [3, 3, { case: "clientRequestResolved", value: { requestId: "a", resolution: 1, clientId: "here", answer: 1 } }],
      [4, 4, { case: "clientRequestResolved", value: { requestId: "b", resolution: 1, clientId: "x", answer: 2 } }],
    ],
    "  Push? · denied by you, in another window or terminal\n",
  ],
  [
    "no more of a long result than helps",
    [
      [1, 1, call("c", "ls")],
      [2, 2, result("c", { output: "l\n".repeat(9), exitCode: 0 })],
    ],
    `✓ Bash ls\n${"  l\n".repeat(6)}  … 3 more lines\n`,
  ],
] as const;

test.each(rows)("shows %s", (_, events, wanted) => {
  expect(printed(events)).toBe(wanted);
});
