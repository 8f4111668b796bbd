import type { ClientRequest, ClientRequestBody } from "@gennai/agent/events/client-request";
import type { Question } from "@gennai/governance/confirmation";
import { createRedactor } from "@gennai/machine/redaction/redactor";
import { expect, test } from "vitest";
import { maskedRequest } from "#bridge/masked-request";

const secret = "sk-live-4f9a0c1d2e3b5a697887";
const digest = "5e".repeat(32);
const common = { requestId: "00000000-0000-4000-8000-000000000000", ownerEpoch: 3, deadline: 5 };

const question: Question = {
  callId: "call-1",
  turnId: "turn-1",
  toolName: "Bash",
  title: secret,
  intentReflection: secret,
  actionStatement: secret,
  impactStatement: secret,
  modelClaim: secret,
  computed: { risk: "medium", paths: [secret], rule: "risk/medium", reason: secret, policySha256: digest },
  actionJson: JSON.stringify({ command: secret }),
  actionSha256: digest,
  rememberStatement: secret,
  offeredScopes: ["once", "session"],
  patterns: [
    { id: digest, text: secret, rule: "r", matchedBefore: [secret], wouldMatch: [secret], wouldNotMatch: [secret] },
  ],
};

const change = {
  id: "c1",
  path: secret,
  operation: "update",
  unifiedDiff: secret,
  newContent: secret,
  newContentBlob: { sha256: digest, size: 3, mediaType: "text/plain" },
  baseSha256: digest,
  conflict: false,
  warning: secret,
  hunks: [{ id: "h1", oldRange: { start: 1, count: 1 }, newRange: { start: 1, count: 1 }, lines: [secret] }],
} as const;

const bodies: readonly ClientRequestBody[] = [
  { kind: "confirmation", question },
  { kind: "command", command: secret, cwd: secret, terminalName: secret, reveal: true },
  { kind: "file-read", path: secret, offset: 1, limit: 2, reason: secret },
  { kind: "apply-changes", changeSetId: "set-1", changes: [change] },
  { kind: "diagnostics", paths: [secret] },
  { kind: "find-symbols", query: secret, path: secret },
  { kind: "workspace", clientId: "c", operation: { type: "resolve", raw: secret } },
  {
    kind: "workspace",
    clientId: "c",
    operation: { type: "run", command: secret, cwd: secret, timeoutMs: 1, readsOnly: true },
  },
];

const mask = async (request: ClientRequest) => maskedRequest(request, await createRedactor({ secrets: [secret] }));

test.each(bodies)("the log's copy of $kind has every text masked, and the rest as it was", async (body) => {
  const request: ClientRequest = { ...common, ...body };
  const wanted = JSON.stringify(request).replaceAll(secret, "[REDACTED:known-secret]");
  expect(JSON.stringify(await mask(request))).toBe(wanted);
});

test.each([
  ["text", secret],
  ["list", ["harmless", secret]],
  ["object", { deep: [{ deeper: secret }] }],
])("a field that somebody adds is masked before anybody thinks of it: %s", async (_what, added) => {
  for (const body of bodies) {
    const request: ClientRequest = structuredClone({ ...common, ...body });
    Object.assign(request.kind === "confirmation" ? request.question : request, { added });
    const logged = JSON.stringify(await mask(request));
    expect(logged).toContain("added");
    expect(logged).not.toContain(secret);
  }
});

test("the conversation is not logged twice", async () => {
  const request: ClientRequest = { ...common, kind: "model-call", requestJson: `{"messages":["${secret}"]}` };
  expect(await mask(request)).toEqual({ ...request, requestJson: "" });
});

test("a digest stays whole, however much it looks like a key", async () => {
  const redactor = { redact: async () => "masked", stream: () => Promise.reject(new Error("unused")) as never };
  const masked = await maskedRequest({ ...common, kind: "confirmation", question }, redactor);
  expect(masked).toMatchObject({
    ...common,
    kind: "confirmation",
    question: {
      callId: "call-1",
      title: "masked",
      computed: { risk: "medium", paths: ["masked"], reason: "masked", policySha256: digest },
      actionSha256: digest,
      offeredScopes: ["once", "session"],
    },
  });
});
