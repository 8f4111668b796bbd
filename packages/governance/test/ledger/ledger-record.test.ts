import { canonicalJson } from "@gennai/protocol/canonical-json";
import { digestOf } from "@gennai/protocol/digest";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { sealRecord } from "#ledger/ledger-record";
import { decodeSignature, recordMessage } from "#ledger/ledger-signature";
import { contentState, partsOf } from "#ledger/record-content";
import { entry, keyPair, salt } from "./ledger-fixture.ts";

const { signer, verifier } = keyPair("key-1");
const place = { seq: 7, previousHash: "a".repeat(64) };

/** Agent Trace 0.1.0, after its published JSON schema. */
const agentTrace = z.strictObject({
  version: z.string().regex(/^\d+\.\d+\.\d+$/),
  id: z.uuid(),
  timestamp: z.iso.datetime({ offset: true }),
  vcs: z.strictObject({ type: z.enum(["git", "jj", "hg", "svn"]), revision: z.string().min(1) }).optional(),
  tool: z.strictObject({ name: z.string(), version: z.string() }).optional(),
  files: z.array(
    z.strictObject({
      path: z.string(),
      conversations: z.array(
        z.strictObject({
          url: z.url().optional(),
          contributor: z
            .strictObject({
              type: z.enum(["human", "ai", "mixed", "unknown"]),
              model_id: z.string().max(250).optional(),
            })
            .optional(),
          ranges: z.array(
            z.strictObject({
              start_line: z.number().int().min(1),
              end_line: z.number().int().min(1),
              content_hash: z.string().optional(),
            }),
          ),
          // The schema asks for these two, and closes no object.
          related: z.array(z.looseObject({ type: z.string(), url: z.url() })).optional(),
        }),
      ),
    }),
  ),
  metadata: z.record(z.string(), z.unknown()).optional(),
});

describe("a ledger record", () => {
  it("seed 001 trace: is an Agent Trace record with what is ours under metadata", () => {
    const block = { startLine: 3, endLine: 5, sha256: "b".repeat(64) };
    const change = {
      path: "src/main.ts",
      operation: "update" as const,
      beforeSha256: "c",
      afterSha256: "d",
      blocks: [block],
    };
    const { line } = sealRecord(entry({ files: [change] }), place, signer, { toolVersion: "1.2.3", salt });
    const record = JSON.parse(line);
    agentTrace.parse(record);
    const { hash, signature, ...metadata } = record.metadata;
    expect({ ...record, metadata }).toEqual({
      version: "0.1.0",
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
      timestamp: "2026-01-02T03:04:05.678Z",
      vcs: { type: "git", revision: "0123456789abcdef0123456789abcdef01234567" },
      tool: { name: "gennai", version: "1.2.3" },
      files: [
        {
          path: "src/main.ts",
          conversations: [
            {
              contributor: { type: "ai", model_id: "acme/model-1" },
              ranges: [{ start_line: 3, end_line: 5, content_hash: `sha256:${"b".repeat(64)}` }],
              related: [],
            },
          ],
        },
      ],
      metadata: {
        seq: 7,
        previous_hash: "a".repeat(64),
        kind: "outcome",
        session_id: "session-1",
        turn_id: "turn-1",
        calls: [
          {
            call_id: "c1",
            tool: "edit_file",
            input: { path: "src/main.ts" },
            verdict: "allow",
            rule: "",
            risk: "medium",
          },
        ],
        changes: [{ path: "src/main.ts", operation: "update", before_sha256: "c", after_sha256: "d", blocks: 1 }],
        details: {},
        key_id: "key-1",
        salt,
        content_digest: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    });
    expect(hash).toBe(digestOf(partsOf(record, metadata).fixed));
    expect(contentState(partsOf(record, metadata).content, metadata)).toBe("intact");
    expect(verifier.verify("key-1", recordMessage(hash), decodeSignature(signature) ?? new Uint8Array())).toBe(true);
    expect(canonicalJson(record)).toBe(line);
  });

  it.each([
    ["INT-001", "urn:gennai:intent:INT-001"],
    ["a b/ü", "urn:gennai:intent:a%20b%2F%C3%BC"],
    ["\ud800", "urn:gennai:intent:%EF%BF%BD"],
  ])("seed 001 trace: names the intent %j of each file by its id and by a URL", (intent, url) => {
    const change = { path: "a", operation: "delete" as const, beforeSha256: "b", afterSha256: undefined, blocks: [] };
    const { line } = sealRecord(entry({ files: [change], details: { intent } }), place, signer, { salt });
    const record = agentTrace.parse(JSON.parse(line));
    const value = intent.toWellFormed();
    expect(record.files[0]?.conversations[0]?.related).toEqual([{ type: "specification", url, value }]);
  });

  it("has bytes that earlier versions gave it, when no intent was worked under", () => {
    const change = { path: "a", operation: "delete" as const, beforeSha256: "b", afterSha256: undefined, blocks: [] };
    const { line } = sealRecord(entry({ files: [change] }), place, signer, { salt });
    expect(line).toContain('"ranges":[],"related":[]');
  });

  it.each([
    [
      "a person contributed",
      {
        modelId: "",
        files: [{ path: "a", operation: "delete" as const, beforeSha256: "b", afterSha256: undefined, blocks: [] }],
      },
    ],
    ["there is no git", { revision: "" }],
    ["the clock says 1970", { time: 0 }],
    ["the clock says 2106", { time: Date.UTC(2106, 1, 7) }],
    [
      "text is not well-formed",
      {
        turnId: "\ud800",
        details: { "\udc00": "\ud800" },
        files: [
          { path: "\ud800", operation: "create" as const, beforeSha256: undefined, afterSha256: "x", blocks: [] },
        ],
      },
    ],
    ["text has escapes and bidi controls", { details: { text: "\u001b[2J\u202e\u0000\r\n\u2028" } }],
    [
      "input is ten megabytes",
      { details: { text: "x".repeat(10_000_000), list: Array(100_000).fill("y".repeat(100)) } },
    ],
    [
      "details hold what JSON does not",
      { details: { a: undefined, b: () => 1, c: Number.NaN, d: 2 ** 60, e: 10n, f: [undefined] } },
    ],
    ["the model's id is absurdly long", { modelId: "m".repeat(5000) }],
  ])("is one valid line when %s", (_name, change) => {
    const { line } = sealRecord(entry(change), place, signer, { salt });
    expect(line).not.toMatch(/[\n\r]/);
    expect(line.length).toBeLessThan(600_000);
    agentTrace.parse(JSON.parse(line));
    expect(canonicalJson(JSON.parse(line))).toBe(line);
  });

  it("keeps what matters of what cannot be kept whole", () => {
    const details = { long: "x".repeat(9_000), nothing: undefined, big: 2 ** 60, ["__proto__"]: "a member" };
    Object.defineProperty(details, "__proto__", { value: "a member", enumerable: true });
    const { line } = sealRecord(entry({ details }), place, signer, { salt });
    expect(line).toContain("[cut: 9000 characters, sha256:");
    expect(line).toContain('"big":"1152921504606847000"');
    expect(line).toContain('"__proto__":"a member"');
    expect(line).not.toContain("nothing");
  });
});
