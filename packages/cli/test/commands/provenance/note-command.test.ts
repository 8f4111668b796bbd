import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { changeNotes, noteOf } from "@gennai/git/git-notes";
import { ProcessLocks } from "@gennai/machine/process/locks/process-lock";
import { sharedParts } from "@gennai/provenance/shared-parts";
import { openStore } from "@gennai/store/sqlite/store";
import {
  type TemporaryDirectory,
  type TemporaryRepository,
  temporaryDirectory,
  temporaryRepository,
} from "@gennai/testkit/temporary-repository";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import * as z from "zod";
import { runCommandLine } from "#command-line";
import { testConsole } from "../../test-console.ts";
import { added, before, recordWrite, text } from "./recorded-call.ts";

const published = readFileSync(new URL("./agent-trace-0.1.0.schema.json", import.meta.url), "utf8");
const ref = "refs/notes/agent-trace";
let state: TemporaryDirectory;
let workspace: TemporaryRepository;
let key: string;
beforeEach(async () => {
  state = await temporaryDirectory();
  workspace = await temporaryRepository({ "words.js": text(before) });
  key = join(state.root, "keys", "ledger.ed25519.pub");
  await workspace.write("words.js", text(before, added));
  await recordWrite(state.root, workspace.root, "words.js", text(before, added));
  await workspace.git("commit", "--quiet", "--message", "agent", "words.js");
});
afterEach(async () => {
  await workspace[Symbol.asyncDispose]();
  await state[Symbol.asyncDispose]();
});

async function gennai(directory: string, ...args: readonly string[]) {
  const console = testConsole(directory, { GENNAI_STATE_DIR: state.root });
  const code = await runCommandLine(args, console);
  return { code, printed: console.printed(), complained: console.complained() };
}

const note = async (commit = "HEAD"): Promise<string> => workspace.git("notes", `--ref=${ref}`, "show", commit);
const noNote = async (): Promise<boolean> => (await workspace.git("for-each-ref", ref)).trim() === "";

test("a note is an Agent Trace 0.1 record by the published schema, and has what was chosen alone", async () => {
  const schema = z.fromJSONSchema(JSON.parse(published));
  expect(schema.safeParse({ version: "0.1", id: "no", timestamp: "", files: [] }).success).toBe(false);
  for (const include of [undefined, "none", sharedParts.join(",")]) {
    const chosen = include === undefined ? [] : ["--include", include];
    expect(await gennai(workspace.root, "provenance", "note", ...chosen)).toMatchObject({ code: 0, complained: "" });
    const record: unknown = JSON.parse(await note());
    expect(schema.safeParse(record).error).toBeUndefined();
  }
  // Everything was chosen last.
  expect(await note()).toContain('"by":"ada"');
  await gennai(workspace.root, "provenance", "note");
  expect(JSON.parse(await note())).toMatchObject({
    files: [{ path: "words.js", conversations: [{ contributor: { type: "ai", model_id: "house/model" } }] }],
    metadata: { "dev.gennai": { writes: [{ seq: 1, intent: "INT-007", decision: { type: "approved", by: "" } }] } },
  });
  expect(await note()).not.toMatch(/"ada"|countWords|"c1"|"turn"/);
  await gennai(workspace.root, "provenance", "note", "--include", "none");
  expect(await note()).not.toMatch(/"ada"|house|INT-007|asks/);
  expect((await note()).trim().split("\n")).toHaveLength(1);
});

test("a dry run lists what would leave, and writes nothing", async () => {
  const { code, printed, complained } = await gennai(workspace.root, "provenance", "note", "--dry-run");
  expect(code).toBe(0);
  expect(complained).toContain("no  people");
  expect(complained).toContain("no  prompts");
  expect(JSON.parse(printed)).toMatchObject({ version: "0.1.0" });
  expect(await noNote()).toBe(true);
});

test("a commit without an agent's line gets none, and what is not a commit or part is refused", async () => {
  const first = await gennai(workspace.root, "provenance", "note", "HEAD~1");
  expect(first).toMatchObject({ code: 0, complained: expect.stringContaining("No recorded call") });
  expect(await gennai(workspace.root, "provenance", "note", "--output=x")).toMatchObject({ code: 2 });
  expect(await gennai(workspace.root, "provenance", "note", "nothing")).toMatchObject({ code: 2 });
  expect(await gennai(workspace.root, "provenance", "note", "--include", "prompts")).toMatchObject({ code: 2 });
  expect(await noNote()).toBe(true);
});

describe("in a clone, after a person's words and a rebase that squashed", () => {
  let clone: string;
  beforeEach(async () => {
    const { git } = workspace;
    await gennai(workspace.root, "provenance", "note");
    await git("config", "notes.rewriteRef", ref);
    await workspace.write("words.js", text(["// Mine."], before, added));
    await git("commit", "--quiet", "--message", "mine", "words.js");
    await git(
      "-c",
      "sequence.editor=sed -i 2s/^pick/squash/",
      "-c",
      "core.editor=true",
      "rebase",
      "--quiet",
      "-i",
      "HEAD~2",
    );
    clone = state.path("clone");
    await git("clone", "--quiet", workspace.root, clone);
    await git("-C", clone, "fetch", "--quiet", "origin", `${ref}:${ref}`);
  });

  const blame = (...flags: readonly string[]) => gennai(clone, "blame", "words.js:8", "--json", "--notes", ...flags);

  test("the line is known by a note that the key signed", async () => {
    const { code, printed } = await blame("--public-key", key);
    expect(JSON.parse(printed)).toMatchObject({
      trust: { status: "ok", source: "notes" },
      lines: [{ line: 8, record: 1 }],
      records: { 1: { model: "house/model", intent: "INT-007", decision: { type: "approved", by: "" } } },
    });
    expect(code).toBe(0);
  });

  test("without a key nobody vouches, and it says so", async () => {
    expect(await blame()).toMatchObject({ code: 10, printed: expect.stringContaining("unchecked-notes") });
  });

  test.each([
    ["says something else", (one: string) => one.replace("house/model", "other/model")],
    ["names other lines", (one: string) => one.replace('"start_line":6', '"start_line":2')],
    ["has no signature", (one: string) => one.replace(/"signature":"[^"]+"/, '"signature":""')],
    ["is no record", () => '{"version":"0.1.0"}\nwords\n\u0000'.replace("\u0000", "")],
  ])("a note that %s names nobody", async (_what, forge) => {
    const { git } = workspace;
    const forged = forge((await git("-C", clone, "notes", `--ref=${ref}`, "show", "HEAD")).trim());
    await git("-C", clone, "notes", `--ref=${ref}`, "add", "--force", "--message", forged, "HEAD");
    const { code, printed } = await blame("--public-key", key);
    expect(JSON.parse(printed)).toMatchObject({ lines: [{ unknown: "not-recorded" }], records: {} });
    expect(code).toBe(0);
  });

  test("a true note on another commit says nothing of other text", async () => {
    const { git } = workspace;
    const true_ = (await git("-C", clone, "notes", `--ref=${ref}`, "show", "HEAD")).trim();
    await git("-C", clone, "notes", `--ref=${ref}`, "remove", "HEAD");
    await git("-C", clone, "notes", `--ref=${ref}`, "add", "--message", true_, "HEAD~1");
    expect(JSON.parse((await blame("--public-key", key)).printed)).toMatchObject({ records: {} });
  });
});

test("what others wrote into the note stays, and writing again does not repeat ours", async () => {
  await workspace.git("notes", `--ref=${ref}`, "add", "--message", "others' words");
  await gennai(workspace.root, "provenance", "note");
  await gennai(workspace.root, "provenance", "note");
  const lines = (await note()).trim().split("\n");
  expect(lines).toEqual(["others' words", expect.stringContaining("dev.gennai")]);
});

test("a purge takes ours from the notes, leaves those of others, and says what it cannot reach", async () => {
  await workspace.git("notes", `--ref=${ref}`, "add", "--message", "others' words");
  await gennai(workspace.root, "provenance", "note");
  const purged = await gennai(workspace.root, "ledger", "purge", "--session", "s", "--yes");
  expect(purged).toMatchObject({ code: 0, printed: expect.stringContaining("Copies that were pushed") });
  expect((await note()).trim()).toBe("others' words");
});

test("a purge that is refused leaves the notes, and one after a new key still finds them", async () => {
  await gennai(workspace.root, "provenance", "note");
  await gennai(workspace.root, "ledger", "rotate-key");
  const purge = () => gennai(workspace.root, "ledger", "purge", "--session", "s", "--yes");
  const held = new ProcessLocks(join(state.root, "locks")).tryAcquire("session s", "runs a turn");
  if (held.type === "held") throw new Error("The session is held already.");
  expect(await purge()).toMatchObject({ code: 1, complained: expect.stringContaining("runs a turn") });
  expect(await note()).toContain("house/model");
  held.lock[Symbol.dispose]();
  expect(await purge()).toMatchObject({ code: 0, printed: expect.stringContaining("1 git note") });
  await expect(note()).rejects.toThrow("no note found");
});

test("what a purge could not take from the notes, the same purge takes later", async () => {
  await gennai(workspace.root, "provenance", "note");
  const purge = () => gennai(workspace.root, "ledger", "purge", "--session", "s", "--yes");
  const lock = workspace.path(`.git/${ref}.lock`);
  writeFileSync(lock, "");
  expect(await purge()).toMatchObject({ code: 1, complained: expect.stringContaining("git did not take the notes") });
  expect(await note()).toContain("house/model");
  rmSync(lock);
  expect(await purge()).toMatchObject({
    code: 0,
    printed: expect.stringMatching(/remains are gone now.*1 git note tells/s),
  });
  await expect(note()).rejects.toThrow("no note found");
  expect(await purge()).toMatchObject({ code: 1, complained: expect.stringContaining("no session s") });
});

/** Objects of the repository that hold a text: those that a reference or a reflog leads to, and all that are there. */
async function objectsWith(word: string): Promise<{ readonly reachable: number; readonly stored: number }> {
  const reachable = await workspace.git("rev-list", "--objects", "--no-object-names", "--all", "--reflog");
  const count = (options: readonly string[], input: string): number => {
    const texts = execFileSync("git", ["cat-file", "--batch", ...options], { cwd: workspace.root, input });
    let found = 0;
    for (let at = 0; at < texts.length; ) {
      const begin = texts.indexOf("\n", at) + 1;
      const size = Number(texts.toString("latin1", at, begin).split(" ")[2]);
      if (texts.subarray(begin, begin + size).includes(word)) found += 1;
      at = begin + size + 1;
    }
    return found;
  };
  return { reachable: count([], `${reachable}\n`), stored: count(["--batch-all-objects"], "") };
}

describe("no reference and no reflog leads to a note of", () => {
  /** A note whose former text is history of the notes, beside one of others. */
  const noted = async (): Promise<void> => {
    await workspace.git("notes", `--ref=${ref}`, "add", "--message", "others' words", "HEAD~1");
    await gennai(workspace.root, "provenance", "note");
    await gennai(workspace.root, "provenance", "note", "--include", "model,people");
    expect((await objectsWith("house/model")).reachable).toBe(2);
  };
  const expectGone = async (): Promise<void> => {
    expect(await objectsWith("house/model")).toMatchObject({ reachable: 0 });
    await workspace.git("gc", "--quiet", "--prune=now");
    expect(await objectsWith("house/model")).toEqual({ reachable: 0, stored: 0 });
    await expect(note()).rejects.toThrow("no note found");
    expect((await note("HEAD~1")).trim()).toBe("others' words");
    expect(await workspace.git("fsck", "--full", "--strict")).toBe("");
  };

  test("a session that was purged", async () => {
    await noted();
    expect(await gennai(workspace.root, "ledger", "purge", "--session", "s", "--yes")).toMatchObject({ code: 0 });
    await expectGone();
  });

  test("a workspace that was purged", async () => {
    await noted();
    expect(await gennai(workspace.root, "ledger", "purge", "--yes")).toMatchObject({ code: 0 });
    await expectGone();
  });

  test("a session that was deleted while a server has the store open", async () => {
    await noted();
    await using store = await openStore(state.root, { onWarning: (warning) => expect.fail(warning) });
    await store.log.forget("s", "ada");
    await expectGone();
  });

  test("a session that was deleted while git was at its notes, once a purge is asked for", async () => {
    await noted();
    const lock = workspace.path(`.git/${ref}.lock`);
    writeFileSync(lock, "");
    const warnings: string[] = [];
    {
      await using store = await openStore(state.root, { onWarning: (warning) => warnings.push(warning) });
      await store.log.forget("s", "ada");
    }
    expect(warnings).toEqual([expect.stringContaining("git did not take the notes")]);
    expect(await note()).toContain("house/model");
    rmSync(lock);
    expect(await gennai(workspace.root, "ledger", "purge", "--session", "s", "--yes")).toMatchObject({ code: 0 });
    await expectGone();
  });

  test("a session whose notes the user took away by hand, but not from their history", async () => {
    await noted();
    await workspace.git("notes", `--ref=${ref}`, "remove", "HEAD");
    expect(await gennai(workspace.root, "ledger", "purge", "--session", "s", "--yes")).toMatchObject({ code: 0 });
    await expectGone();
  });
});

test("lines that others add to a note meanwhile are not lost", async () => {
  const { git } = workspace;
  await git("notes", `--ref=${ref}`, "add", "--message", "first");
  let looked = 0;
  await changeNotes(workspace.root, async () => {
    looked += 1;
    const seen = (await note()).trim();
    if (looked === 1) await git("notes", `--ref=${ref}`, "append", "--message", "of others");
    const commit = (await git("rev-parse", "HEAD")).trim();
    return new Map([[commit, `${seen}\nours\n`]]);
  });
  expect(looked).toBe(2);
  expect((await note()).split("\n").filter((line) => line !== "")).toEqual(["first", "of others", "ours"]);
});

test.each(["main", "not-there-yet"])(
  "a reference of notes that stands for the branch %s is not written through",
  async (branch) => {
    const { git } = workspace;
    await git("symbolic-ref", ref, `refs/heads/${branch}`);
    const refs = await git("for-each-ref", "refs/heads");
    expect(await gennai(workspace.root, "provenance", "note")).toMatchObject({
      code: 1,
      complained: expect.stringContaining(`stands for refs/heads/${branch}`),
    });
    expect(await git("for-each-ref", "refs/heads")).toBe(refs);
  },
);

test("many who write notes at the same moment all come through, on the same commit and on others", async () => {
  const { git } = workspace;
  const commits = (await git("rev-list", "HEAD")).trim().split("\n");
  const names = Array.from({ length: 6 }, (_, at) => `writer ${at}`);
  const add = (name: string) =>
    changeNotes(workspace.root, async () => {
      const notes = await Promise.all(
        commits.map(async (commit) => [commit, `${await noteOf(workspace.root, commit)}${name}\n`] as const),
      );
      return new Map(notes);
    });
  await Promise.all(names.map(add));
  for (const commit of commits) expect((await note(commit)).trim().split("\n").sort()).toEqual(names);
});

describe("a trailer", () => {
  const message = async (): Promise<string> => (await workspace.git("log", "-1", "--format=%B")).trimEnd();

  test("is printed, and only put into the message when that is asked", async () => {
    expect(await gennai(workspace.root, "provenance", "trailer")).toMatchObject({
      code: 0,
      printed: "Assisted-by: gennai:house/model\n",
    });
    expect(await message()).toBe("agent");
    const about = "--format=%T %P %an %ae %at %ct";
    const old = await workspace.git("log", "-1", about);
    await gennai(workspace.root, "provenance", "note");
    expect(await gennai(workspace.root, "provenance", "trailer", "--amend")).toMatchObject({ code: 0 });
    expect(await message()).toBe("agent\n\nAssisted-by: gennai:house/model");
    expect(await workspace.git("log", "-1", about)).toBe(old);
    expect(await note()).toContain("house/model");
    await gennai(workspace.root, "provenance", "trailer", "--amend");
    expect(await message()).toBe("agent\n\nAssisted-by: gennai:house/model");
  });

  test("is listed by a dry run, which changes nothing", async () => {
    const { code, printed, complained } = await gennai(workspace.root, "provenance", "trailer", "--amend", "--dry-run");
    expect({ code, printed }).toEqual({ code: 0, printed: "Assisted-by: gennai:house/model\n" });
    expect(complained).toMatch(/yes model .*\n.*no {2}people .*\n.*no {2}prompts /);
    expect(await message()).toBe("agent");
  });

  test("stands with those that are there", async () => {
    await workspace.git(
      "commit",
      "--quiet",
      "--amend",
      "--message",
      "agent\n\nwhy: because\n\nSigned-off-by: A <a@b.c>",
    );
    await gennai(workspace.root, "provenance", "trailer", "--amend");
    expect(await message()).toBe("agent\n\nwhy: because\n\nSigned-off-by: A <a@b.c>\nAssisted-by: gennai:house/model");
  });

  test("changes nothing that others may have", async () => {
    await workspace.git("update-ref", "refs/remotes/origin/main", "HEAD");
    expect(await gennai(workspace.root, "provenance", "trailer", "--amend")).toMatchObject({ code: 1 });
    expect(await message()).toBe("agent");
  });
});
