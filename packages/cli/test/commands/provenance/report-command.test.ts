import { verify } from "node:crypto";
import { openStore } from "@gennai/store/sqlite/store";
import {
  type TemporaryDirectory,
  type TemporaryRepository,
  temporaryDirectory,
  temporaryRepository,
} from "@gennai/testkit/temporary-repository";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runCommandLine } from "#command-line";
import { plainEntry } from "../../../../governance/test/ledger/plain-entry.ts";
import { testConsole } from "../../test-console.ts";
import { added, before, recordWrite, text } from "./recorded-call.ts";

let state: TemporaryDirectory;
let workspace: TemporaryRepository;
beforeEach(async () => {
  state = await temporaryDirectory();
  workspace = await temporaryRepository({ "words.js": text(before) });
  const { git } = workspace;
  await git("switch", "--quiet", "--create", "work");
  await workspace.write("words.js", text(before, added));
  await recordWrite(state.root, workspace.root, "words.js", text(before, added));
  await refuse();
  await workspace.write("mine.txt", "a person's\n");
  await git("add", "--force", "words.js", "mine.txt", ".orchestration");
  await git("commit", "--quiet", "--message", "work");
  // What the branch gets that it is to go into is not of this change.
  await git("switch", "--quiet", "main");
  await git("commit", "--quiet", "--allow-empty", "--message", "meanwhile");
  await git("switch", "--quiet", "work");
});
afterEach(async () => {
  await workspace[Symbol.asyncDispose]();
  await state[Symbol.asyncDispose]();
});

/** A call that a rule refused, in a session that wrote nothing; and one from before the branch. */
async function refuse(): Promise<void> {
  await using store = await openStore(state.root, { onWarning: () => {} });
  const calls = [
    { callId: "c", tool: "Bash", input: {}, verdict: "deny", rule: "floor/git-loss", risk: "high" },
  ] as const;
  for (const [sessionId, time] of [
    ["old", 1_000],
    ["other", Date.now()],
  ] as const) {
    await store.log.create({ sessionId, workspaceRoot: workspace.root, time });
    const entry = plainEntry({ kind: "refusal", time, sessionId, turnId: "t", modelId: "m", calls });
    await store.log.append(sessionId, { events: [], ledger: [entry], durable: true }, { seq: 0, epoch: 1 });
  }
  await store.flushLedgers();
}

async function report(...flags: readonly string[]) {
  const console = testConsole(workspace.root, { GENNAI_STATE_DIR: state.root });
  const code = await runCommandLine(["report", ...flags], console);
  return { code, printed: console.printed(), complained: console.complained() };
}

test("where verification was not chosen, nothing is said of it", async () => {
  const whole = (await report("--since", "main")).printed;
  expect(whole).toContain("agent, write confirmed");
  expect(whole).toContain("| not confirmed |");
  for (const format of ["markdown", "html"]) {
    const { printed } = await report("--since", "main", "--include", "people,intent,decision", "--format", format);
    expect(printed).not.toMatch(/confirmed/);
    expect(printed).toMatch(/agent/);
  }
});

test("JSON says how much, under which intents, what was asked and refused, and what has no verification", async () => {
  const { code, printed } = await report("--since", "main", "--json");
  expect(JSON.parse(printed)).toMatchObject({
    trust: { status: "ok", source: "store" },
    lines: { verified: 4, unverified: 0, failed: 0, person: 0, unknown: 1 },
    files: [
      { path: "mine.txt", kind: "added", added: { unknown: 1 }, records: [] },
      { path: "words.js", kind: "changed", added: { verified: 4 }, removed: 0, records: [1] },
    ],
    writers: [{ name: "house/model", lines: 4 }],
    intents: [{ id: "INT-007", lines: 4, files: 1 }],
    decisions: [{ type: "approved", lines: 4 }],
    asked: [
      { seq: 1, tool: "Edit", rule: "rules/user/asks", answer: "yes", by: "", isOfChange: true },
      { seq: 3, tool: "Bash", rule: "floor/git-loss", answer: "refused", by: "", isOfChange: false },
    ],
    withoutVerification: [],
  });
  expect(code).toBe(0);
  expect(printed).not.toContain("countWords");
});

test("Markdown and HTML say the same, and name people only when that is chosen", async () => {
  for (const format of ["markdown", "html"]) {
    const shown = (...flags: readonly string[]) => report("--since", "main", "--format", format, ...flags);
    const { printed } = await shown();
    for (const part of ["house/model", "INT-007", "floor/git-loss", "80 %"]) expect(printed).toContain(part);
    expect(printed).not.toMatch(/\bada\b|\| by \||>by</);
    const { printed: all } = await shown("--include", "model,intent,decision,verification,people");
    expect(all).toMatch(/\bada\b/);
    expect(all).toMatch(/\| by \||>by</);
    const { printed: without } = await shown("--include", "none");
    expect(without).not.toMatch(/\bada\b|house\/model|INT-007|floor/);
  }
});

test("a dry run lists what would leave, prints the report, and writes no file", async () => {
  const { code, printed, complained } = await report("--since", "main", "--dry-run", "--out", "r.md");
  expect(code).toBe(0);
  expect(complained).toMatch(/yes decision .*\n.*yes verification .*\n.*no {2}people .*\n.*no {2}prompts /);
  expect(printed).toContain("## Where this change came from");
  await expect(workspace.read("r.md")).rejects.toThrow("ENOENT");
});

test("an HTML page has a picture, and no script, link or address", async () => {
  const { printed } = await report("--since", "main", "--format", "html");
  expect(printed).toContain('role="img" aria-label="New lines. agent, write confirmed: 4; not known');
  expect(printed).toContain("default-src &#39;none&#39;".replaceAll("&#39;", "'"));
  expect(printed).not.toMatch(/<script|<link|<img|<a |https?:|url\(/);
});

test("names of files cannot end what they stand in, or hide", async () => {
  const hostile = "a<img src=x onerror=alert(1)>|`b`\n\u001b]0;t\u0007\u202e\"'&.txt";
  await workspace.write(hostile, "x\n");
  await workspace.write("b.bin", new Uint8Array([0, 1, 2]));
  await workspace.write("windows.txt", "one\r\ntwo\r\n");
  await workspace.git("add", "--all", ":!.orchestration");
  await workspace.git("commit", "--quiet", "--message", "hostile");
  const html = (await report("--since", "main", "--format", "html")).printed;
  expect(html).toContain("a&lt;img src=x onerror=alert(1)&gt;|`b`\\n\\u{1b}]0;t\\u{7}\\u{202e}&quot;&#39;&amp;.txt");
  const markdown = (await report("--since", "main")).printed;
  expect(markdown).toContain(
    "| `` a<img src=x onerror=alert(1)>\\|`b`\\n\\u{1b}]0;t\\u{7}\\u{202e}\"'&.txt `` (added) |",
  );
  const { files } = JSON.parse((await report("--since", "main", "--json")).printed);
  expect(files).toContainEqual(expect.objectContaining({ path: hostile }));
  expect(files).toContainEqual(expect.objectContaining({ path: "b.bin", isText: false }));
  expect(files).toContainEqual(
    expect.objectContaining({ path: "windows.txt", added: expect.objectContaining({ unknown: 2 }) }),
  );
});

test("a ledger that is not as it was signed is said so in the report itself", async () => {
  const file = (await workspace.read(".orchestration/agent_trace.jsonl")).replace("INT-007", "INT-008");
  await workspace.write(".orchestration/agent_trace.jsonl", file);
  const { code, printed } = await report("--since", "main");
  expect(code).toBe(10);
  expect(printed).toContain("**Not to be relied on.**");
  expect(await report("--since", "main", "--format", "html")).toMatchObject({
    printed: expect.stringContaining('role="alert"'),
  });
  expect(await report("--since", "main", "--format", "in-toto")).toMatchObject({ code: 1, printed: "" });
});

test("what is not a commit or format, and a file that is there, are refused", async () => {
  expect(await report()).toMatchObject({ code: 2 });
  expect(await report("--since", "nothing")).toMatchObject({ code: 2, printed: "" });
  expect(await report("--since", "main", "--format", "pdf")).toMatchObject({ code: 2, printed: "" });
  expect(await report("--since", "main", "--out", "words.js")).toMatchObject({ code: 2 });
  expect(await workspace.read("words.js")).toBe(text(before, added));
  expect(await report("--since", "main", "--out", "r.html", "--format", "html")).toMatchObject({ code: 0 });
  expect(await workspace.read("r.html")).toContain("<!doctype html>");
});

test("in-toto: a statement about the commits, which the ledger's key signed, says what JSON says", async () => {
  const { code, printed } = await report("--since", "main", "--format", "in-toto");
  expect(code).toBe(0);
  const envelope = JSON.parse(printed) as { payloadType: string; payload: string; signatures: { sig: string }[] };
  const payload = Buffer.from(envelope.payload, "base64");
  const head = `DSSEv1 ${envelope.payloadType.length} ${envelope.payloadType} ${payload.length} `;
  const key = await state.read("keys/ledger.ed25519.pub");
  const signature = Buffer.from(envelope.signatures[0]?.sig ?? "", "base64");
  expect(verify(null, Buffer.concat([Buffer.from(head), payload]), key, signature)).toBe(true);
  const commit = (await workspace.git("rev-parse", "HEAD")).trim();
  const json = JSON.parse((await report("--since", "main", "--json")).printed) as object;
  expect(JSON.parse(payload.toString())).toEqual({
    _type: "https://in-toto.io/Statement/v1",
    subject: [{ digest: { gitCommit: commit } }],
    predicateType: "https://gennai.dev/change-report/v1",
    predicate: { ...json, made: expect.any(String) },
  });
  expect(await report("--since", "HEAD", "--format", "in-toto")).toMatchObject({ code: 2, printed: "" });
});

test("in-toto: evidence for whose key nobody vouches is not signed", async () => {
  const file = state.path("b.json");
  const console = testConsole(workspace.root, { GENNAI_STATE_DIR: state.root });
  expect(await runCommandLine(["ledger", "export", "--format", "bundle", "--out", file], console)).toBe(0);
  const wanted = ["--since", "main", "--format", "in-toto", "--bundle", file];
  const { code, printed, complained } = await report(...wanted);
  expect([code, printed]).toEqual([1, ""]);
  expect(complained).toContain("nobody vouches");
  const key = ["--public-key", state.path("keys/ledger.ed25519.pub")];
  expect(await report(...wanted, ...key)).toMatchObject({ code: 0, printed: expect.stringContaining("payload") });
});
