import { execFile } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { LedgerBundle } from "@gennai/governance/ledger/bundle-schema";
import type { FileChange } from "@gennai/governance/tool";
import { createRedactor } from "@gennai/machine/redaction/redactor";
import { canonicalJson } from "@gennai/protocol/canonical-json";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { type BundlePart, bundleParts, usualBundleParts } from "#audit/bundle-parts";
import { exportLedgerBundle } from "#audit/export-bundle";
import { verifyLedgerBundle } from "#audit/ledger-bundle";
import { exportLedgerLines } from "#audit/ledger-export";
import { ledgerPublicKeyFile } from "#ledger/ledger-key";
import { purgeMemory } from "#purge/purge-memory";
import { userMessage } from "../../../agent/test/user-message.ts";
import { entryOf, StoreFixture } from "../sqlite/store-fixture.ts";

const secret = ["ghp", "abcdefghijklmnopqrstuvwxyz0123456789"].join("_");
const change = {
  path: "src/a.ts",
  operation: "update" as const,
  beforeSha256: "b".repeat(64),
  afterSha256: "a".repeat(64),
  blocks: [{ startLine: 1, endLine: 2, sha256: "c".repeat(64) }],
};

let fixture: StoreFixture;
beforeEach(async () => {
  fixture = await StoreFixture.create();
});
afterEach(() => fixture[Symbol.asyncDispose]());

async function fill(details: Record<string, unknown> = {}, files: readonly FileChange[] = []): Promise<void> {
  await using store = await fixture.open();
  await store.log.setTitle("s", "Title");
  const event = userMessage(`say ${secret} and ada`);
  await store.log.append(
    "s",
    {
      events: [{ turnId: "t", itemId: "", time: 1, event }],
      ledger: [
        { ...entryOf(1), revision: "0".repeat(40), files: [change] },
        { ...entryOf(2), details, files },
        entryOf(3),
      ],
      durable: true,
    },
    { seq: 0, epoch: 1 },
  );
  await store.flushLedgers();
}

const place = () => ({ stateDir: fixture.stateDir, workspaceRoot: fixture.root });

async function lines(format: "agent-trace" | "seed001") {
  return Array.fromAsync(exportLedgerLines(place(), { format, redactor: await createRedactor() }));
}

const range = z.strictObject({ start_line: z.int().min(1), end_line: z.int().min(1), content_hash: z.string() });
const contributor = z.strictObject({
  type: z.enum(["human", "ai", "mixed", "unknown"]),
  model_id: z.string().max(250).optional(),
});
const conversation = z.strictObject({
  url: z.url().optional(),
  contributor: contributor.optional(),
  ranges: z.array(range),
  // The schema asks for these two, and closes no object.
  related: z.array(z.looseObject({ type: z.string(), url: z.url() })).optional(),
});
/** The constraints of the published JSON schema, with the version this format has. */
const agentTrace = z.strictObject({
  version: z.literal("0.1.0"),
  id: z.uuid(),
  timestamp: z.iso.datetime(),
  vcs: z.strictObject({ type: z.enum(["git", "jj", "hg", "svn"]), revision: z.string() }).optional(),
  tool: z.strictObject({ name: z.string(), version: z.string() }).optional(),
  files: z.array(z.strictObject({ path: z.string(), conversations: z.array(conversation) })),
  metadata: z.record(z.string(), z.unknown()).optional(),
});

describe("export", () => {
  test("as Agent Trace: the records as they are", async () => {
    await fill();
    const exported = (await lines("agent-trace")).map((line) => agentTrace.parse(JSON.parse(line)));
    expect(exported).toHaveLength(3);
    expect(exported[0]?.files[0]).toMatchObject({
      path: "src/a.ts",
      conversations: [{ ranges: [{ start_line: 1, end_line: 2 }] }],
    });
    expect((await lines("agent-trace")).join("\n")).toBe(readFileSync(fixture.mirror, "utf8").trimEnd());
  });

  test("with the older names", async () => {
    await fill();
    const [first] = await lines("seed001");
    const record = JSON.parse(first ?? "");
    expect(record).toMatchObject({
      vcs: { revision_id: "0".repeat(40) },
      files: [
        { relative_path: "src/a.ts", conversations: [{ ranges: [{ content_hash: `sha256:${"c".repeat(64)}` }] }] },
      ],
    });
    expect(record.vcs).not.toHaveProperty("revision");
    expect(record.files[0]).not.toHaveProperty("path");
  });

  test("with the older names, what is related by its value alone", async () => {
    const sealed = { type: "specification", url: "urn:gennai:intent:INT-001", value: "INT-001" };
    await fill({ intent: "INT-001" }, [change]);
    expect(
      agentTrace.parse(JSON.parse((await lines("agent-trace"))[1] ?? "")).files[0]?.conversations[0],
    ).toMatchObject({ related: [sealed] });
    expect(JSON.parse((await lines("seed001"))[1] ?? "").files[0].conversations[0].related).toEqual([
      { type: "specification", value: "INT-001" },
    ]);
  });

  test("is redacted by the rules of today", async () => {
    await fill({ [secret]: "name", text: secret });
    const all = (await lines("agent-trace")).join("\n");
    expect(all).not.toContain(secret);
    expect(JSON.parse(all.split("\n")[1] ?? "").metadata).toMatchObject({ redacted: true });
    agentTrace.parse(JSON.parse(all.split("\n")[1] ?? ""));
  });

  test("stays valid when purged, and of a ledger the store does not know", async () => {
    await fill();
    await purgeMemory(place());
    for (const line of await lines("agent-trace")) agentTrace.parse(JSON.parse(line));
    writeFileSync(fixture.mirror, '{"id":"1","vcs":{"revision_id":"x"},"files":[]}\n{"cut\n');
    const exported = await Array.fromAsync(
      exportLedgerLines(
        { ...place(), stateDir: `${fixture.directory}/none` },
        { format: "agent-trace", redactor: await createRedactor() },
      ),
    );
    expect(exported).toEqual(['{"id":"1","vcs":{"revision_id":"x"},"files":[]}']);
  });
});

describe("a bundle", () => {
  const exported = async (chosen: readonly BundlePart[] = bundleParts) => {
    const parts = new Set(chosen);
    const options = { redactor: await createRedactor(), now: () => Date.UTC(2026, 0, 1), parts };
    return (await Array.fromAsync(exportLedgerBundle(place(), options))).join("");
  };
  const bundle = async () => {
    const made: LedgerBundle = JSON.parse(await exported());
    return made;
  };
  const verified = (text: string, key: string | undefined) => verifyLedgerBundle(() => [Buffer.from(text)], key);
  const publicKey = () => readFileSync(ledgerPublicKeyFile(fixture.stateDir), "utf8");

  test("is checked offline by a third party, by key and by itself", async () => {
    await fill();
    const text = await exported();
    expect(await verified(text, publicKey())).toMatchObject({ status: "ok", records: 3, keyIsGiven: true });
    expect(await verified(text, undefined)).toMatchObject({ status: "ok", keyIsGiven: false });
    // Also laid out by somebody else, on one line as earlier versions did.
    for (const indent of [undefined, 2]) {
      const other = JSON.stringify(JSON.parse(text), null, indent);
      expect(await verified(other, publicKey())).toMatchObject({ status: "ok", records: 3 });
    }
    // A record, a session, an event a line; without line breaks it is canonical JSON.
    expect(text.split("\n")).toHaveLength(10);
    expect(text.replaceAll("\n", "")).toBe(canonicalJson(JSON.parse(text)));
  });

  test("seed 003 §9 markers: carries sessions, head and redaction markers, and no secret", async () => {
    await fill({ text: secret });
    const made = await bundle();
    expect(made).toMatchObject({
      head: { seq: 3 },
      withheld: [2],
      sessions: [
        {
          session_id: "s",
          title: "Title",
          events: [{ seq: 1, event: { type: "user-message", text: expect.stringContaining("[REDACTED:") } }],
        },
      ],
      redactions: { marker: "[REDACTED:", count: 1 },
    });
    const text = JSON.stringify(made);
    expect(text).not.toContain(secret);
    expect(await verified(text, publicKey())).toMatchObject({ status: "ok", records: 3, purged: 1 });
  });

  test.each<readonly [readonly BundlePart[], object, readonly RegExp[]]>([
    [usualBundleParts, { records: 3, purged: 0 }, [/src\/a\.ts/]],
    [["prompts"], { records: 3, purged: 3 }, [/and ada/, /"Title"/]],
    [[], { records: 3, purged: 3 }, []],
    [bundleParts, { records: 3, purged: 0 }, [/src\/a\.ts/, /and ada/, /"Title"/]],
  ])("holds what was chosen alone, and is sound all the same: %j", async (chosen, report, inIt) => {
    await fill({ rule: "a rule" }, [change]);
    const text = await exported(chosen);
    expect(await verified(text, publicKey())).toMatchObject({ status: "ok", ...report });
    for (const part of [/src\/a\.ts/, /and ada/, /"Title"/]) {
      expect(part.test(text), String(part)).toBe(inIt.some(({ source }) => source === part.source));
    }
  });

  test("of the chain alone, of a ledger that was purged and went on", async () => {
    await fill();
    await purgeMemory({ ...place(), sessionId: "s" });
    await fixture.recordAndClose(1);
    const text = await exported([]);
    expect(await verified(text, publicKey())).toMatchObject({ status: "ok", records: 5, purged: 4 });
    expect(JSON.parse(text).records[3].metadata).toMatchObject({ kind: "purge" });
    expect(text).not.toContain("run_command");
  });

  test("of a purged ledger, and of one that began on an older file", async () => {
    const { mkdirSync } = await import("node:fs");
    mkdirSync(`${fixture.root}/.orchestration`);
    writeFileSync(fixture.mirror, '{"id":"old"}\n');
    await fill();
    await purgeMemory({ ...place(), sessionId: "s" });
    expect(await verified(await exported(), publicKey())).toMatchObject({ status: "ok", records: 4, purged: 3 });
  });

  test.each([
    [
      "an event was changed",
      (made: Bundle) => void (made.sessions[0]!.events[0]!.event["text"] = "other"),
      "bad_signature",
    ],
    ["a record was taken out", (made: Bundle) => void made.records.splice(1, 1), "bad_signature"],
    ["the list of withheld records was longer", (made: Bundle) => void made.withheld.push(1), "bad_signature"],
    ["something was added", (made: Bundle) => void Object.assign(made, { more: 1 }), "malformed_line"],
    ["the signature is not a signature", (made: Bundle) => void (made.signature = "x"), "bad_signature"],
    ["there is no key in it", (made: Bundle) => void (made.public_key = ""), "no_key"],
  ])("is refused when %s", async (_name, forge, status) => {
    await fill();
    const made = await bundle();
    forge(made);
    expect((await verified(JSON.stringify(made), undefined)).status).toBe(status);
  });

  test("a key that occurs twice is named: readers would differ about what is signed", async () => {
    await fill();
    const [whole] = [JSON.stringify(await bundle())];
    const twice = whole.replace('"version":1', '"version":2,"version":1');
    expect(twice).not.toBe(whole);
    const report = await verified(twice, publicKey());
    expect(report.status).toBe("malformed_line");
    expect(report.message).toContain("a key twice: version");
  });

  test("a byte order mark and carriage returns are named, and nothing else comes of them", async () => {
    await fill();
    const text = await exported();
    const report = await verified(`\ufeff${text.replaceAll("\n", "\r\n")}`, publicKey());
    expect(report.status).toBe("ok");
    expect(report.notes).toEqual([
      { code: "byte_order_mark", seq: 0, line: 1, offset: 0 },
      expect.objectContaining({ code: "carriage_return", line: 1 }),
    ]);
  });

  test("takes no more memory for a long ledger than for a short one", async () => {
    {
      await using store = await fixture.open();
      let seq = 0;
      const text = "lorem ipsum ".repeat(40);
      for (let at = 0; at < 10_000; at += 500) {
        const numbers = Array.from({ length: 500 }, (_, index) => at + index);
        const events = numbers.map((number) => ({
          turnId: `t${number}`,
          itemId: "",
          time: 1,
          event: { type: "text-delta", text: `${number} ${text}` } as const,
        }));
        const ledger = numbers.map((number) => ({ ...entryOf(number), details: { number, text } }));
        const logged = await store.log.append("s", { events, ledger, durable: true }, { seq, epoch: 1 });
        seq = logged.at(-1)?.seq ?? 0;
      }
    }
    const bundle = `${fixture.directory}/bundle.json`;
    const program = fileURLToPath(new URL("bundle-program.ts", import.meta.url));
    const heap = ["--max-old-space-size=48", "--max-semi-space-size=4"];
    const { stdout } = await promisify(execFile)(process.execPath, [
      ...heap,
      ...[program, fixture.stateDir, fixture.root, bundle],
    ]);
    expect(statSync(bundle).size).toBeGreaterThan(15_000_000);
    expect(JSON.parse(stdout)).toMatchObject({ status: "ok", records: 10_000 });
  });

  test("is refused when another signed it, or it is none", async () => {
    await fill();
    const text = await exported();
    await using stranger = await StoreFixture.create();
    await stranger.recordAndClose(1);
    const strange = readFileSync(ledgerPublicKeyFile(stranger.stateDir), "utf8");
    expect((await verified(text, strange)).status).toBe("unknown_key");
    for (const junk of ["", "{}", "[1", `{"a":${"[".repeat(100_000)}`, "null"]) {
      expect((await verified(junk, strange)).status).toBe("malformed_line");
    }
  });
});

type Bundle = LedgerBundle;
