import { type ChildProcess, spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createSocketServer } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { originOf } from "@gennai/governance/ledger/anchor/checkpoint";
import { type CopyReport, checkCopy } from "@gennai/governance/ledger/check-copy";
import { exportedRecord } from "@gennai/governance/ledger/exported-record";
import type { ExportDestination } from "@gennai/governance/limits/export-schema";
import { canonicalJson } from "@gennai/protocol/canonical-json";
import { readLedgerRecords } from "@gennai/store/audit/ledger-records";
import { exportBacklog, oldestUnsent } from "@gennai/store/ledger/export-cursor";
import { ledgerVerifier } from "@gennai/store/ledger/ledger-key";
import { listening } from "@gennai/testkit/listening";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { LedgerExport } from "#export/ledger-export";
import { resendRecords } from "#export/resend-records";
import { entryOf, StoreFixture } from "../../../store/test/sqlite/store-fixture.ts";

let fixture: StoreFixture;
beforeEach(async () => {
  fixture = await StoreFixture.create();
});
afterEach(() => fixture[Symbol.asyncDispose]());

/** A receiver: what it does with each request, and the bodies that it took. */
async function receiver(answer: (request: IncomingMessage, response: ServerResponse, number: number) => boolean) {
  const bodies: Buffer[] = [];
  let number = 0;
  const server = createServer((request, response) => {
    void buffer(request).then((body) => {
      number += 1;
      if (answer(request, response, number)) bodies.push(gunzipSync(body));
    });
  });
  const { port, ...closing } = await listening(server);
  return {
    url: `http://127.0.0.1:${port}`,
    bodies,
    lines: () => bodies.flatMap((body) => body.toString().trim().split("\n")),
    [Symbol.asyncDispose]: () => {
      server.closeAllConnections();
      return closing[Symbol.asyncDispose]();
    },
  };
}

const takes = (_request: IncomingMessage, response: ServerResponse): true => {
  response.end();
  return true;
};
const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: console.error };
const waits = { look: 5, first: 5, longest: 20 };

function exporting(
  destination: Omit<ExportDestination, "name">,
  more: Partial<typeof waits & { readonly answer: number }> = {},
): LedgerExport {
  const { stateDir } = fixture;
  const options = { stateDir, version: "0.2.0", log: silent, waits: { ...waits, ...more } };
  return new LedgerExport(async () => [{ name: "siem", ...destination }], options);
}

const allSent = () => vi.waitFor(() => expect(exportBacklog(fixture.stateDir, "siem").records).toBe(0), 30_000);

/** What the ledger says of a copy. */
async function against(lines: readonly string[]): Promise<CopyReport> {
  const { stateDir, root } = fixture;
  const stored = new Map(readLedgerRecords(stateDir, root, 0, 10_000).map(({ seq, json }) => [seq, json]));
  const { metadata } = JSON.parse(stored.get(1) ?? "{}") as { metadata: { hash: string } };
  const key = await readFile(join(stateDir, "keys", "ledger.ed25519.pub"), "utf8");
  return checkCopy(lines, {
    origin: originOf(metadata.hash),
    verifier: ledgerVerifier(key),
    newest: stored.size,
    stored: (seq) => stored.get(seq),
  });
}

test.each<[string, Omit<ExportDestination, "name" | "endpoint" | "to">, number]>([
  ["webhook", {}, 520],
  ["webhook", { format: "ocsf" }, 5],
  ["webhook", { content: "paths" }, 5],
  ["otlp", { protocol: "http/json" }, 5],
])("a whole copy by %s %j", async (to, more, count) => {
  await fixture.recordAndClose(count);
  await using there = await receiver(takes);
  await using _export = exporting({ to: to as "otlp", endpoint: there.url, ...more });
  await allSent();
  expect(there.bodies).toHaveLength(Math.ceil(count / 512));
  expect(await against(there.lines())).toMatchObject({ status: "ok", records: count, duplicates: 0 });
  expect(there.lines().join()).not.toContain("npm test");
});

test("OTLP in protobuf has each record's hash", async () => {
  await fixture.recordAndClose(3);
  const asked: (string | undefined)[] = [];
  await using there = await receiver((request, response) => {
    asked.push(request.url, request.headers["content-type"]);
    return takes(request, response);
  });
  await using _export = exporting({ to: "otlp", endpoint: there.url });
  await allSent();
  expect(asked).toEqual(["/v1/logs", "application/x-protobuf"]);
  for (const { json } of readLedgerRecords(fixture.stateDir, fixture.root, 0, 10)) {
    const { metadata } = JSON.parse(json) as { metadata: { hash: string } };
    expect(there.bodies[0]?.includes(metadata.hash)).toBe(true);
  }
});

test("lines in a file, and none is lost behind a line that was cut off", async () => {
  await fixture.recordAndClose(5);
  const endpoint = join(fixture.directory, "copy.jsonl");
  await writeFile(endpoint, '{"torn":');
  {
    await using _export = exporting({ to: "file", endpoint });
    await allSent();
  }
  expect(await against((await readFile(endpoint, "utf8")).split("\n"))).toMatchObject({ status: "ok", records: 5 });
});

test("what was rejected is sent once more when a person says so, and of the gap only that is forgotten", async () => {
  await fixture.recordAndClose(5);
  let rejects = true;
  await using there = await receiver((_request, response) => {
    response.end(JSON.stringify(rejects ? { partialSuccess: { rejectedLogRecords: 5 } } : {}));
    return !rejects;
  });
  const destination = { name: "siem", to: "otlp", protocol: "http/json", endpoint: there.url } as const;
  const place = { stateDir: fixture.stateDir, workspaceRoot: fixture.root, version: "0.2.0" };
  const again = (from: number, to: number) =>
    resendRecords(destination, { from, to }, place, new AbortController().signal);
  {
    await using _export = exporting(destination);
    await allSent();
  }
  expect(await again(1, 5)).toMatchObject({
    sent: 0,
    delivery: { type: "taken", rejected: expect.stringContaining("5 records") },
  });
  expect(exportBacklog(fixture.stateDir, "siem").trouble).toContain("rejected 5");
  rejects = false;
  expect(await again(2, 4)).toEqual({ sent: 3, delivery: { type: "taken" } });
  expect(await against(there.lines())).toMatchObject({ status: "copy_incomplete", records: 3, missing: ["1", "5"] });
  const trouble = () => exportBacklog(fixture.stateDir, "siem").trouble;
  expect(trouble()).toMatch(/records 1 to 1 .*; .*records 5 to 5 /);
  // It lacks the records still.
  expect(oldestUnsent(fixture.stateDir, "siem")).toBe(Date.UTC(2026, 0, 1));
  expect(await again(5, 7)).toEqual({ sent: 1, delivery: { type: "refused", why: "the ledger has no record 6" } });
  expect(await again(8, 9)).toMatchObject({ sent: 0, delivery: { type: "refused" } });
  expect(trouble()).toMatch(/^Of records 1 to 1 [^;]*$/);
  expect(await again(1, 1)).toMatchObject({ sent: 1 });
  expect(trouble()).toBe("");
  expect(oldestUnsent(fixture.stateDir, "siem")).toBeUndefined();
});

test("a receiver that never answers ends sending once more", async () => {
  await fixture.recordAndClose(2);
  await using there = await receiver(() => false);
  const place = { stateDir: fixture.stateDir, workspaceRoot: fixture.root, version: "0.2.0", answerMs: 50 };
  const destination = { name: "siem", to: "webhook", endpoint: there.url } as const;
  const again = resendRecords(destination, { from: 1, to: 2 }, place, new AbortController().signal);
  expect(await again).toMatchObject({
    sent: 0,
    delivery: { type: "later", why: expect.stringMatching(/did not answer/) },
  });
});

test("a destination that a policy names, or moves, while the server runs gets the records", async () => {
  await fixture.recordAndClose(3);
  let asked = 0;
  await using before = await receiver(() => {
    asked += 1;
    return false;
  });
  await using there = await receiver(takes);
  let wanted: readonly ExportDestination[] = [];
  const { stateDir } = fixture;
  const options = { stateDir, version: "0.2.0", log: silent, waits: { ...waits, settings: 5 } };
  await using _export = new LedgerExport(async () => wanted, options);
  wanted = [{ name: "siem", to: "webhook", endpoint: before.url }];
  // It never answers, and is left all the same.
  await vi.waitFor(() => expect(asked).toBe(1), 30_000);
  wanted = [{ name: "siem", to: "webhook", endpoint: there.url }];
  await allSent();
  expect(await against(there.lines())).toMatchObject({ status: "ok", records: 3 });
});

test("content: redacted tells what tools were called with, masked once more", async () => {
  await using store = await fixture.open();
  const token = ["ghp", "x7Kq2mV9tR4wB8nL1cF6hJ3pD5sG0yZaQeUi"].join("_");
  const [call] = entryOf(1).calls;
  if (call === undefined) throw new TypeError("no call");
  const entry = { ...entryOf(1), calls: [{ ...call, input: canonicalJson({ command: `echo ${token}` }) }] };
  await store.log.append("s", { events: [], ledger: [entry], durable: true }, { seq: 0, epoch: 1 });
  await using there = await receiver(takes);
  await using _export = exporting({ to: "webhook", endpoint: there.url, content: "redacted" });
  await allSent();
  const { attributes } = JSON.parse(there.lines()[0] ?? "") as { attributes: Record<string, unknown> };
  expect(attributes["gennai.input"]).toEqual([expect.stringMatching(/^\{"command":"echo \[REDACTED:[^"]*"\}$/)]);
  expect(await against(there.lines())).toMatchObject({ status: "ok", records: 1 });
});

test("syslog by RFC 5424, each message counted in octets", async () => {
  await fixture.recordAndClose(4);
  let got = Buffer.alloc(0);
  const server = createSocketServer((socket) => socket.on("data", (chunk) => (got = Buffer.concat([got, chunk]))));
  const { port, ...closing } = await listening(server);
  {
    await using _export = exporting({ to: "syslog", endpoint: `tcp://127.0.0.1:${port}` });
    await allSent();
  }
  await closing[Symbol.asyncDispose]();
  const lines: string[] = [];
  while (got.length > 0) {
    const [, count = ""] = /^(\d+) /.exec(got.subarray(0, 10).toString()) ?? [];
    const message = got.subarray(count.length + 1, count.length + 1 + Number(count)).toString();
    expect(message).toMatch(/^<110>1 2026-01-01T00:00:00\.000Z \S+ gennai \d+ intent - \{/);
    lines.push(message.slice(message.indexOf("{")));
    got = got.subarray(count.length + 1 + Number(count));
  }
  expect(await against(lines)).toMatchObject({ status: "ok", records: 4 });
});

test("a receiver that takes a request and never answers is asked again, and told of meanwhile", async () => {
  await fixture.recordAndClose(3);
  let answers = false;
  await using there = await receiver((request, response) => answers && takes(request, response));
  await using _export = exporting({ to: "webhook", endpoint: there.url }, { answer: 50 });
  await vi.waitFor(
    () => expect(exportBacklog(fixture.stateDir, "siem").trouble).toMatch(/did not answer within/),
    30_000,
  );
  answers = true;
  await vi.waitFor(() => expect(there.bodies.length).toBeGreaterThan(0), 30_000);
});

test("a receiver that asks to be asked again at once is asked after the usual time", async () => {
  await fixture.recordAndClose(1);
  const asked: number[] = [];
  await using there = await receiver((_request, response) => {
    asked.push(performance.now());
    response.writeHead(429, { "retry-after": "0" }).end();
    return false;
  });
  await using _export = exporting({ to: "webhook", endpoint: there.url }, { first: 200, longest: 400 });
  await vi.waitFor(() => expect(asked.length).toBeGreaterThan(1), 30_000);
  expect((asked[1] ?? 0) - (asked[0] ?? 0)).toBeGreaterThan(90);
});

test("a receiver that is away, busy, or answers with half an answer gets all, and is told of meanwhile", async () => {
  await fixture.recordAndClose(7);
  let away = true;
  await using there = await receiver((request, response, number) => {
    if (!away && number % 6 === 0) return takes(request, response);
    const ways = [
      () => response.writeHead(503).end(),
      () => response.writeHead(429, { "retry-after": "0" }).end(),
      () => response.writeHead(400).end(),
      () => request.socket.destroy(),
      () => response.writeHead(200, { "content-length": "100" }).write("half", () => request.socket.destroy()),
    ];
    ways[number % ways.length]?.();
    return false;
  });
  await using _export = exporting({ to: "webhook", endpoint: there.url });
  await vi.waitFor(() =>
    expect(exportBacklog(fixture.stateDir, "siem").trouble).toMatch(/siem .*(answered|ECONN|socket)/),
  );
  expect(exportBacklog(fixture.stateDir, "siem")).toMatchObject({ records: 7, since: "2026-01-01T00:00:00.000Z" });
  away = false;
  await allSent();
  expect(exportBacklog(fixture.stateDir, "siem").trouble).toBe("");
  expect(await against(there.lines())).toMatchObject({ status: "ok", records: 7 });
});

test("what a receiver rejected is not sent again, and stays known", async () => {
  await fixture.recordAndClose(3);
  await using there = await receiver((_request, response) => {
    response.end(JSON.stringify({ partialSuccess: { rejectedLogRecords: 2, errorMessage: "too old" } }));
    return true;
  });
  await using _export = exporting({ to: "otlp", protocol: "http/json", endpoint: there.url });
  await allSent();
  expect(there.bodies).toHaveLength(1);
  expect(exportBacklog(fixture.stateDir, "siem").trouble).toMatch(/^Of records 1 to 3 .* rejected 2 records: too old$/);
});

const kills = process.env["GENNAI_SAMPLES"] === "whole" ? 20 : 6;

test(`killed ${kills} times, nothing is missing, and what came twice has the same id`, async () => {
  const program = fileURLToPath(new URL("delivers.ts", import.meta.url));
  await using there = await receiver((request, response, number) => {
    // Taken, and the sender does not hear of it.
    if (number % 3 === 0) request.socket.destroy();
    else response.end();
    return true;
  });
  const start = (): ChildProcess =>
    spawn(process.execPath, [program, fixture.stateDir, there.url], { stdio: ["ignore", "ignore", "inherit"] });
  for (let round = 0; round < kills; round += 1) {
    await fixture.recordAndClose(30);
    const before = there.bodies.length;
    const child = start();
    const ended = new Promise((resolve) => child.once("exit", resolve));
    try {
      await vi.waitFor(() => expect(there.bodies.length).toBeGreaterThan(before), { timeout: 30_000, interval: 1 });
    } finally {
      child.kill("SIGKILL");
      await ended;
    }
  }
  await using _export = exporting({ to: "webhook", endpoint: there.url });
  await allSent();
  const report = await against(there.lines());
  expect(report).toMatchObject({ status: "ok", records: 30 * kills, missing: [] });
  expect(report.duplicates).toBeGreaterThan(0);
});

test("a copy that lacks a record, has one that was changed, or one more, is told", async () => {
  await fixture.recordAndClose(6);
  await using there = await receiver(takes);
  await using _export = exporting({ to: "webhook", endpoint: there.url });
  await allSent();
  const lines = there.lines();
  const without = lines.filter((_line, index) => index !== 2 && index !== 3);
  expect(await against(without)).toMatchObject({ status: "copy_incomplete", missing: ["3-4"] });
  const changed = lines.map((line, index) =>
    index === 1 ? line.replace('"gennai.risk":"high"', '"gennai.risk":"low"') : line,
  );
  expect(await against(changed)).toMatchObject({
    status: "contradicts_copy",
    contradictions: ["record 2: gennai.risk is not what the ledger has"],
    missing: [],
    compared: "all",
  });
  const forged = lines.map((line, index) => (index === 1 ? line.replaceAll("2026-01-01", "2026-01-02") : line));
  expect(await against(forged)).toMatchObject({
    status: "contradicts_copy",
    contradictions: ["record 2: its text does not have its hash"],
  });
});

type Edit = (line: string, index: number) => string;
/** Of the second record. */
const second =
  (from: string | RegExp, to: string): Edit =>
  (line, index) =>
    index === 1 ? line.replace(from, to) : line;

test.each<[string, Partial<ExportDestination>, Edit, RegExp]>([
  ["an attribute that was left out", {}, second(/,"gennai.risk":"\w+"/, ""), /2: gennai.risk is not what the ledger/],
  ["an attribute that was added", {}, second('"gennai.risk"', '"gennai.more":1,"gennai.risk"'), /2: gennai.more/],
  ["another severity", {}, second('"severity":"INFO"', '"severity":"ERROR"'), /2: its severity/],
  ["another event", {}, second(/"event_name":"[\w.]+"/, '"event_name":"gennai.ledger.session"'), /2: its event/],
  ["another time", {}, second(/"time":"\d{4}/, '"time":"1999'), /2: its time/],
  [
    "another time in OTLP",
    { to: "otlp", protocol: "http/json" },
    (line) => line.replace(/"timeUnixNano":"1/, '"timeUnixNano":"2'),
    /its time/,
  ],
  [
    "another severity in OTLP",
    { to: "otlp", protocol: "http/json" },
    (line) => line.replace('"severityText":"INFO"', '"severityText":"WARN"'),
    /its severity/,
  ],
  ["another outcome in OCSF", { format: "ocsf" }, second('"action_id":1', '"action_id":2'), /2: its event/],
  [
    "another outcome in OCSF of another version",
    { format: "ocsf" },
    (line, index) => {
      const other = (_all: string, before: string) => `${before}9.9.9`;
      return index === 1
        ? line.replace('"action_id":1', '"action_id":2').replace(/("product":\{[^}]*?"version":")[^"]*/, other)
        : line;
    },
    /2: its event/,
  ],
  ["another rule in OCSF", { format: "ocsf" }, second('"policy":{"name":"', '"policy":{"name":"x'), /2: its event/],
])("in a copy %s is found", async (_what, to, edit, found) => {
  await fixture.recordAndClose(3);
  await using there = await receiver(takes);
  await using _export = exporting({ to: "webhook", endpoint: there.url, ...to });
  await allSent();
  const changed = there.lines().map(edit);
  expect(changed).not.toEqual(there.lines());
  const { status, contradictions } = await against(changed);
  expect([status, contradictions.join()]).toEqual(["contradicts_copy", expect.stringMatching(found)]);
});

test("records that were numbered anew, after one was left out, are found by the public key alone", async () => {
  await fixture.recordAndClose(4);
  await using there = await receiver(takes);
  await using _export = exporting({ to: "webhook", endpoint: there.url });
  await allSent();
  const [first = "", left = "", ...rest] = there.lines();
  const hashOf = (line: string) => /"gennai.ledger.hash":"(\w+)"/.exec(line)?.[1] ?? "";
  const anew = rest.map((line, index) =>
    line
      .replace(/"gennai.ledger.seq":\d+/, `"gennai.ledger.seq":${index + 2}`)
      .replace(`"gennai.ledger.previous_hash":"${hashOf(left)}"`, `"gennai.ledger.previous_hash":"${hashOf(first)}"`),
  );
  const key = await readFile(join(fixture.stateDir, "keys", "ledger.ed25519.pub"), "utf8");
  const alone = { origin: undefined, newest: undefined, verifier: ledgerVerifier(key) };
  expect(await checkCopy([first, ...anew], alone)).toMatchObject({
    status: "contradicts_copy",
    contradictions: ["record 2: its seq is not what was signed", "record 3: its seq is not what was signed"],
  });
});

test("with a public key alone, records of other machines are left out, and none of its own is no whole copy", async () => {
  await fixture.recordAndClose(3);
  await using other = await StoreFixture.create();
  await other.recordAndClose(2);
  const key = await readFile(join(fixture.stateDir, "keys", "ledger.ed25519.pub"), "utf8");
  const alone = { origin: undefined, newest: undefined, verifier: ledgerVerifier(key) };
  const linesOf = ({ stateDir, root }: StoreFixture) =>
    readLedgerRecords(stateDir, root, 0, 10).map(({ json }) => {
      const { attributes } = exportedRecord(json, { origin: stateDir, paths: false });
      return JSON.stringify({ attributes });
    });
  const theirs = linesOf(other);
  expect(await checkCopy([...theirs, ...linesOf(fixture)], alone)).toMatchObject({
    status: "ok",
    records: 3,
    compared: "signed",
  });
  expect(await checkCopy(theirs, alone)).toMatchObject({ status: "copy_incomplete", records: 0, missing: ["1"] });
});
