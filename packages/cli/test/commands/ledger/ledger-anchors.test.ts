import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseNote } from "@gennai/governance/ledger/anchor/signed-note";
import { openStore } from "@gennai/store/sqlite/store";
import { temporaryDirectory, temporaryRepository } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { runCommandLine } from "#command-line";
import { plainEntry } from "../../../../governance/test/ledger/plain-entry.ts";
import { testConsole } from "../../test-console.ts";

interface Place {
  readonly stateDir: string;
  readonly workspaceRoot: string;
}

/** Records so many decisions, as a server would. */
async function record({ stateDir, workspaceRoot }: Place, sessionId: string, count: number): Promise<void> {
  await using store = await openStore(stateDir, { onWarning: () => {} });
  await store.log.create({ sessionId, workspaceRoot, time: 1 });
  for (let number = 0; number < count; number++) {
    const entry = plainEntry({ sessionId, details: { number } });
    await store.log.append(sessionId, { events: [], ledger: [entry], durable: true }, { seq: 0, epoch: 1 });
  }
  await store.flushLedgers();
}

function gennaiIn({ stateDir, workspaceRoot }: Place) {
  return async (...args: string[]) => {
    const console = testConsole(workspaceRoot, { GENNAI_STATE_DIR: stateDir });
    const code = await runCommandLine(["ledger", ...args], console);
    return { code, printed: console.printed(), complained: console.complained() };
  };
}

test("a head that somebody keeps says since when, and finds out a ledger that was put back or made anew", async () => {
  await using state = await temporaryDirectory();
  await using workspace = await temporaryDirectory();
  const place = { stateDir: state.path("one"), workspaceRoot: workspace.root };
  mkdirSync(place.stateDir);
  const gennai = gennaiIn(place);
  const witness = workspace.path("heads.txt");

  expect(await gennai("anchor")).toMatchObject({ code: 2 });
  expect(await gennai("anchor", "--to", "heads.txt", "--git")).toMatchObject({ code: 2 });
  await record(place, "s", 2);
  // All of it on one day: database, heads, keys and the workspace's file.
  cpSync(place.stateDir, state.path("day"), { recursive: true });
  cpSync(workspace.path(".orchestration"), state.path("day-file"), { recursive: true });

  await record(place, "t", 2);
  const anchored = await gennai("anchor", "--to", "heads.txt");
  expect(anchored).toMatchObject({ code: 0, printed: expect.stringContaining("Anchored 4 records in") });
  const note = parseNote(readFileSync(witness, "utf8"));
  expect(note?.text).toMatch(/^gennai\.invalid\/ledger\/[0-9a-f]{32}\n4\n[A-Za-z0-9+/]{43}=\n$/);
  expect(note?.signatures).toHaveLength(2);
  expect((await gennai("anchor", "--to", "heads.txt")).printed).toContain("are anchored in");
  expect(readFileSync(witness, "utf8").match(/\n4\n/g)).toHaveLength(1);

  await record(place, "u", 1);
  const since =
    /anchored records 1 to 4 could not be rewritten without being noticed since \d{4}-\d\d-\d\d \d\d:\d\d UTC, says the signer/;
  const verified = await gennai("verify", "--anchors", "heads.txt");
  expect(verified).toMatchObject({ code: 0, printed: expect.stringMatching(since) });
  expect(JSON.parse((await gennai("verify", "--anchors", "heads.txt", "--json")).printed)).toMatchObject({
    status: "ok",
    anchors: { found: 1, oldest: { size: 4 } },
  });
  expect((await gennai("verify")).printed).not.toContain("anchored");
  writeFileSync(workspace.path("others.txt"), "words\n");
  expect((await gennai("verify", "--anchors", "others.txt")).printed).toContain("so nothing was compared");
  await gennai("export", "--format", "bundle", "--out", "b.json");
  expect(await gennai("verify", "--bundle", "b.json", "--anchors", "heads.txt")).toMatchObject({
    code: 0,
    printed: expect.stringMatching(since),
  });

  // Put back, all of it: nothing here can see that. The witness does.
  rmSync(place.stateDir, { recursive: true });
  cpSync(state.path("day"), place.stateDir, { recursive: true });
  rmSync(workspace.path(".orchestration"), { recursive: true });
  cpSync(state.path("day-file"), workspace.path(".orchestration"), { recursive: true });
  expect(await gennai("verify")).toMatchObject({ code: 0 });
  expect(await gennai("verify", "--anchors", "heads.txt")).toMatchObject({
    code: 23,
    printed: expect.stringMatching(/^contradicts_anchor {2}The ledger has 2 records, but had 4 when it was anchored/),
  });
  const refused = await gennai("anchor", "--to", "heads.txt");
  expect(refused).toMatchObject({ code: 1, complained: expect.stringContaining("had 4 when it was anchored") });

  // And grown to the same length again, with the same key.
  await record(place, "other", 3);
  expect(await gennai("verify")).toMatchObject({ code: 0 });
  expect(await gennai("verify", "--anchors", "heads.txt")).toMatchObject({
    code: 23,
    printed: expect.stringContaining("the ledger was rewritten"),
  });
});

test("git's notes hold heads as well, and are read by themselves", async () => {
  await using state = await temporaryDirectory();
  await using workspace = await temporaryRepository({ "README.md": "# Test\n" });
  const place = { stateDir: state.root, workspaceRoot: workspace.root };
  const gennai = gennaiIn(place);
  await record(place, "s", 3);
  expect(await gennai("anchor", "--git")).toMatchObject({
    code: 0,
    printed: expect.stringContaining("Anchored 3 records"),
  });
  expect(await workspace.git("notes", "--ref=gennai-anchors", "show")).toContain("\n3\n");
  expect((await gennai("verify")).printed).toMatch(/anchored records 1 to 3 .*git notes, refs\/notes\/gennai-anchors/);

  // What others put there says nothing.
  await workspace.git("notes", "--ref=gennai-anchors", "append", "-m", "gennai.invalid/ledger/x\n9\nwords");
  expect(await gennai("verify")).toMatchObject({
    code: 0,
    printed: expect.stringContaining("anchored records 1 to 3"),
  });
  await record(place, "t", 1);
  await gennai("anchor", "--git");
  expect((await gennai("verify")).printed.match(/anchored records/g)).toHaveLength(2);
});

test("what cannot be compared with is said, and signs nothing", async () => {
  await using state = await temporaryDirectory();
  await using workspace = await temporaryDirectory();
  const place = { stateDir: state.root, workspaceRoot: workspace.root };
  const gennai = gennaiIn(place);
  await record(place, "s", 1);
  expect(await gennai("verify", "--anchors", "nothing.txt")).toMatchObject({
    code: 1,
    complained: expect.stringContaining("cannot be read"),
  });
  writeFileSync(workspace.path("junk.txt"), "— x AAAA\n\n\n".repeat(1000));
  expect(await gennai("verify", "--anchors", "junk.txt")).toMatchObject({ code: 0 });
  expect(await gennai("verify", "--anchors", "junk.txt", "--witness", "nobody")).toMatchObject({
    code: 1,
    complained: expect.stringContaining("is not a verifier key"),
  });
  expect(await gennai("anchor", "--git")).toMatchObject({ code: 1, complained: expect.stringContaining("git") });
  expect(await gennai("anchor", "--to", join("no", "such", "directory.txt"))).toMatchObject({ code: 1 });

  const file = workspace.path(".orchestration/agent_trace.jsonl");
  writeFileSync(file, readFileSync(file, "utf8").replace('"number":0', '"number":1'));
  expect(await gennai("anchor", "--to", "heads.txt")).toMatchObject({
    code: 1,
    complained: expect.stringContaining("not correct (broken_chain)"),
  });
});

test("the page that checks a bundle is written once, with its digest", async () => {
  await using state = await temporaryDirectory();
  await using workspace = await temporaryDirectory();
  const gennai = gennaiIn({ stateDir: state.root, workspaceRoot: workspace.root });
  const { buildLedgerPage } = await import("../../../../ledger-page/scripts/build.mjs");
  await buildLedgerPage();
  expect(await gennai("page")).toMatchObject({
    code: 0,
    printed: expect.stringMatching(/ledger-page\.html\nSHA-256 [0-9a-f]{64},/),
  });
  expect(readFileSync(workspace.path("ledger-page.html"), "utf8")).toContain("default-src 'none'");
  expect(await gennai("page")).toMatchObject({ code: 2, complained: expect.stringContaining("--out") });
});
