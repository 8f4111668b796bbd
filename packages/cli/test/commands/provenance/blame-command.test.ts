import { writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { type TemporaryDirectory, temporaryDirectory, temporaryRepository } from "@gennai/testkit/temporary-repository";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import * as z from "zod";
import { runCommandLine } from "#command-line";
import { testConsole } from "../../test-console.ts";
import { added, before, recordWrite, text } from "./recorded-call.ts";

let state: TemporaryDirectory;
beforeEach(async () => {
  state = await temporaryDirectory();
});
afterEach(() => state[Symbol.asyncDispose]());

async function gennai(directory: string, ...args: readonly string[]) {
  const console = testConsole(directory, { GENNAI_STATE_DIR: state.root });
  const code = await runCommandLine(args, console);
  return { code, printed: console.printed(), complained: console.complained() };
}

const answer = z.object({
  lines: z.array(z.object({ record: z.number().optional(), unknown: z.string().optional() })),
});

async function named(directory: string, file: string, ...flags: readonly string[]): Promise<string> {
  const { printed, complained } = await gennai(directory, "blame", file, "--json", ...flags);
  expect(complained).toBe("");
  const { lines } = answer.parse(JSON.parse(printed));
  return lines
    .map(({ record, unknown }) => (record === undefined ? (unknown === "ambiguous" ? "?" : ".") : record))
    .join("");
}

test("each line has its agent, intent, decision and verification, and no text is in the JSON", async () => {
  await using workspace = await temporaryRepository({ "words.js": text(before) });
  const after = text(before, added);
  await workspace.write("words.js", after);
  await recordWrite(state.root, workspace.root, "words.js", after);
  const { code, printed } = await gennai(workspace.root, "blame", "words.js:5-7");
  expect(printed.split("\n")).toEqual([
    ...["·  5  }", "#1 6", "#1 7  export function countWords(sentence) {", ""],
    ...["#1 agent house/model in session s, turn turn, call c1 (Edit), 2026-11-20 10:00 UTC", "   intent   INT-007"],
    ...["   agreed   ada said yes, as rules/user/asks asked", "   checked  the result is as expected"],
    "   found    2 lines: the whole file is as it was recorded (100 %)",
    ...["·  1 line unknown: it was there before, or somebody else wrote it since", ""],
  ]);
  expect(code).toBe(0);
  const json = await gennai(workspace.root, "blame", "words.js", "--json");
  expect(JSON.parse(json.printed)).toMatchObject({
    file: "words.js",
    trust: { status: "ok", source: "store" },
    lines: expect.arrayContaining([{ line: 7, record: 1, method: "same-file", confidence: 1 }]),
    records: { 1: { model: "house/model", intent: "INT-007", decision: { type: "approved", by: "ada" } } },
  });
  expect(json.printed).not.toContain("countWords");
  expect(await named(workspace.root, "words.js", "--since", "2026-11-21")).toBe(".........");
  expect(await named(workspace.root, "words.js", "--since", "2026-11-19")).toBe(".....1111");
});

test("a file is looked for in the workspace that is named, as git -C does, wherever one stands", async () => {
  await using workspace = await temporaryRepository({ "src/words.js": text(before) });
  // Looked for from here, this one would be taken.
  await using elsewhere = await temporaryDirectory({ "src/words.js": "another\n", "only-here.js": "x\n" });
  const after = text(before, added);
  await workspace.write("src/words.js", after);
  await recordWrite(state.root, workspace.root, "src/words.js", after);
  const there = ["--workspace", workspace.root];
  expect(await named(elsewhere.root, "src/words.js", ...there)).toBe(".....1111");
  expect(await named(elsewhere.root, workspace.path("src/words.js"), ...there)).toBe(".....1111");
  expect(
    await named(elsewhere.root, "src/../src/words.js:7", "--workspace", relative(elsewhere.root, workspace.root)),
  ).toBe("1");
  expect(await gennai(elsewhere.root, "blame", "only-here.js", ...there)).toMatchObject({
    code: 1,
    complained: expect.stringContaining(`There is no file only-here.js in ${workspace.root}`),
  });
  expect(await gennai(elsewhere.root, "blame", elsewhere.path("only-here.js"), ...there)).toMatchObject({ code: 2 });
});

describe("a line is still explained after", () => {
  test("cherry-pick, a merge of two branches, and a branch that was pushed over", async () => {
    await using workspace = await temporaryRepository({ "words.js": text(before) });
    const { git } = workspace;
    await git("switch", "--quiet", "--create", "work");
    const after = text(before, added);
    await workspace.write("words.js", after);
    await recordWrite(state.root, workspace.root, "words.js", after);
    await git("commit", "--quiet", "--message", "agent", "words.js");

    await git("switch", "--quiet", "--create", "mine", "main");
    await workspace.write("words.js", text(["// Mine."], before));
    await git("commit", "--quiet", "--all", "--message", "mine");
    await git("merge", "--quiet", "--no-edit", "work");
    expect(await named(workspace.root, "words.js")).toBe("......1111");

    await git("switch", "--quiet", "--create", "picked", "mine~1");
    await git("cherry-pick", "work");
    expect(await named(workspace.root, "words.js")).toBe("......1111");

    // As after a fetch of what another machine forced: no branch has the agent's own commit any more.
    await git("switch", "--quiet", "--orphan", "forced");
    await workspace.write("words.js", text(["// Mine."], before, added));
    await git("add", "words.js");
    await git("commit", "--quiet", "--message", "all anew");
    await git("branch", "--quiet", "-D", "work", "mine", "picked");
    expect(await named(workspace.root, "words.js")).toBe("......1111");
  });

  test("commit, amend, a person's edit, rebase, squash and rename", async () => {
    await using workspace = await temporaryRepository({ "words.js": text(before) });
    const { git } = workspace;
    await git("switch", "--quiet", "--create", "work");
    const after = text(before, added);
    await workspace.write("words.js", after);
    await recordWrite(state.root, workspace.root, "words.js", after);
    await git("commit", "--quiet", "--all", "--message", "agent");
    await workspace.write("words.js", text(["// Mine."], before, added));
    await git("commit", "--quiet", "--all", "--amend", "--message", "amended");
    expect(await named(workspace.root, "words.js")).toBe("......1111");
    await git("switch", "--quiet", "main");
    await workspace.write("other.txt", "other\n");
    await git("add", "--all", ":!.orchestration");
    await git("commit", "--quiet", "--message", "meanwhile");
    await git("rebase", "--quiet", "main", "work");
    expect(await named(workspace.root, "words.js")).toBe("......1111");
    await git("switch", "--quiet", "main");
    await git("merge", "--quiet", "--squash", "work");
    await git("commit", "--quiet", "--message", "squashed");
    expect(await named(workspace.root, "words.js")).toBe("......1111");
    await git("mv", "words.js", "lib.js");
    await git("commit", "--quiet", "--message", "renamed");
    expect(await named(workspace.root, "lib.js")).toBe("......1111");
  });

  test("it went to a clone, with a bundle and the signer's key", async () => {
    await using workspace = await temporaryRepository({ "words.js": text(before) });
    const after = text(before, added);
    await workspace.write("words.js", after);
    await recordWrite(state.root, workspace.root, "words.js", after);
    // What was recorded was never committed as it was: only the hash of its block is known elsewhere.
    await workspace.write("words.js", text(["// Mine."], before, added));
    await workspace.git("commit", "--quiet", "--all", "--message", "both");
    expect(
      await gennai(workspace.root, "ledger", "export", "--format", "bundle", "--out", join(state.root, "b.json")),
    ).toMatchObject({ code: 0 });
    await using elsewhere = await temporaryDirectory();
    await workspace.git("clone", "--quiet", workspace.root, elsewhere.path("clone"));
    const bundle = ["--bundle", join(state.root, "b.json")];
    const key = ["--public-key", join(state.root, "keys", "ledger.ed25519.pub")];
    const foreign = testConsole(elsewhere.path("clone"), { GENNAI_STATE_DIR: elsewhere.path("state") });
    expect(await runCommandLine(["blame", "words.js", "--json", ...bundle, ...key], foreign)).toBe(0);
    expect(JSON.parse(foreign.printed())).toMatchObject({
      trust: { status: "ok", source: "bundle" },
      lines: expect.arrayContaining([{ line: 8, record: 1, method: "block-hash", confidence: 0.97 }]),
    });
    const own = await gennai(elsewhere.path("clone"), "blame", "words.js", ...bundle);
    expect(own).toMatchObject({ code: 0, complained: expect.stringContaining("its own key") });
    const text1 = await state.read("b.json");
    writeFileSync(join(state.root, "forged.json"), text1.replace("INT-007", "INT-008"));
    const forged = await gennai(
      elsewhere.path("clone"),
      "blame",
      "words.js",
      "--bundle",
      join(state.root, "forged.json"),
      ...key,
    );
    expect(forged).toMatchObject({ code: 10, complained: expect.stringContaining("bad_signature") });
  });
});

test("where nothing is recorded, as in a folder of the workspace, that is said", async () => {
  await using workspace = await temporaryRepository({ "src/words.js": text(before) });
  const after = text(before, added);
  await workspace.write("src/words.js", after);
  await recordWrite(state.root, workspace.root, "src/words.js", after);
  const { code, printed, complained } = await gennai(workspace.path("src"), "blame", "words.js");
  expect({ code, complained }).toEqual({
    code: 0,
    complained: expect.stringContaining(`No call wrote a file of ${workspace.path("src")}`),
  });
  expect(printed).not.toContain("#1");
  expect((await gennai(workspace.path("src"), "blame", "src/words.js", "--workspace", "..")).complained).toBe("");
});

test("after a purge nothing is known any more", async () => {
  await using workspace = await temporaryRepository({ "words.js": text(before) });
  const after = text(before, added);
  await workspace.write("words.js", after);
  await recordWrite(state.root, workspace.root, "words.js", after);
  expect(await gennai(workspace.root, "ledger", "purge", "--yes")).toMatchObject({ code: 0 });
  expect(await named(workspace.root, "words.js")).toBe(".........");
});

test("a trailer and a note that anybody can write name nobody", async () => {
  await using workspace = await temporaryRepository({ "words.js": text(before, added) });
  await workspace.git("commit", "--quiet", "--amend", "--message", "forged\n\nAssisted-by: house/model");
  await workspace.git("notes", "add", "--message", '{"version":"0.1.0","metadata":{"seq":1}}');
  expect(await named(workspace.root, "words.js")).toBe(".........");
});

describe("refused are", () => {
  test("files outside, links out, directories, binaries and lines that are none", async () => {
    await using outside = await temporaryDirectory({ "secret.txt": "secret\n" });
    await using workspace = await temporaryRepository({ "a.bin": new Uint8Array([1, 0, 2]), "dir/a.txt": "a\n" });
    const { symlink } = await import("node:fs/promises");
    await symlink(outside.path("secret.txt"), workspace.path("link.txt"));
    const blame = async (file: string, ...flags: readonly string[]) => gennai(workspace.root, "blame", file, ...flags);
    expect(await blame(outside.path("secret.txt"))).toMatchObject({ code: 2, printed: "" });
    expect(await blame("link.txt")).toMatchObject({ code: 2, printed: "" });
    expect(await blame("dir")).toMatchObject({ code: 2 });
    expect(await blame("none.txt")).toMatchObject({ code: 1 });
    expect(await blame("a.bin")).toMatchObject({ code: 1, complained: expect.stringContaining("not text") });
    expect(await blame("dir/a.txt:0")).toMatchObject({ code: 2 });
    expect(await blame("dir/a.txt:5-4")).toMatchObject({ code: 2 });
    expect(await blame("dir/a.txt:9")).toMatchObject({ code: 2 });
    expect(await blame("dir/a.txt", "--since", "--output=x")).toMatchObject({ code: 2 });
    expect(await blame("dir/a.txt", "--public-key", "x")).toMatchObject({ code: 2 });
  });

  test("characters that nobody sees, on a terminal", async () => {
    await using workspace = await temporaryRepository({ "a.txt": "a\u001b]0;title\u0007\u202eb\n" });
    expect((await gennai(workspace.root, "blame", "a.txt")).printed).toContain("·  1  a]0;titleb");
  });
});
