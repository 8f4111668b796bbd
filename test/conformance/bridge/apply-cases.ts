import assert from "node:assert/strict";
import { ChangeOperation } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { type BridgeCase, hashOf, type ProposedFields, type SceneTools } from "./bridge-scene.ts";

const applies = (name: string, check: (at: SceneTools) => Promise<void>): BridgeCase => ({
  name,
  ability: "applyChanges",
  check,
});

/** A file before, the text it is given, and its bytes afterwards. */
const texts: readonly (readonly [name: string, before: string, after: string])[] = [
  ["LF", "one\ntwo\nthree\n", "one\n2\nthree\n"],
  ["CRLF", "one\r\ntwo\r\n", "one\r\n2\r\n"],
  ["line ends of both kinds", "one\r\ntwo\nthree\r\n", "one\r\n2\nthree\r\n"],
  ["from LF to CRLF", "one\ntwo\n", "one\r\ntwo\r\n"],
  ["from CRLF to LF", "one\r\ntwo\r\n", "one\ntwo\n"],
  ["no line end at the end", "one\ntwo", "one\nthree"],
  ["a byte order mark", "\uFEFFone\n", "\uFEFFtwo\n"],
  ["from empty", "", "one\n"],
  ["to empty", "one\n", ""],
  ["beyond the basic plane", "😀 one\n", "😁 one 😀\n"],
  ["a lone CR", "one\rtwo\nthree\n", "one\rtwo\n3\n"],
  ["several places", "a\nb\nc\nd\ne\nf\n", "A\nb\nc\nD\nd\ne\n"],
];

/** What must be refused, with a message that names the file. */
const refusals: readonly (readonly [name: string, message: RegExp, change: ProposedFields])[] = [
  ["a base that is not on disk", /a\.txt/, { path: "a.txt", text: "x\n", base: "other\n" }],
  ["an update without base", /a\.txt/, { path: "a.txt", text: "x\n" }],
  ["an update of a file that is not there", /none\.txt/, { path: "none.txt", text: "x\n", base: "a\n" }],
  ["a create where a file is", /a\.txt/, { path: "a.txt", operation: "create", text: "x\n" }],
  ["a delete of another content", /a\.txt/, { path: "a.txt", operation: "delete", base: "other\n" }],
  ["a delete of a file that is not there", /none\.txt/, { path: "none.txt", operation: "delete", base: "a\n" }],
  ["a conflict", /a\.txt/, { path: "a.txt", text: "x\n", base: "a\n", conflict: true }],
  ["a text that was not sent", /a\.txt/, { path: "a.txt", base: "a\n", blob: true }],
  ["a path above the workspace", /outside/, { path: "../outside/new.txt", operation: "create", text: "x\n" }],
  ["a path through a link that leads out", /./, { path: "out/new.txt", operation: "create", text: "x\n" }],
  ["a link to what is not there outside", /./, { path: "dangling", operation: "create", text: "x\n" }],
  ["a directory", /dir/, { path: "dir", text: "x\n", base: "a\n" }],
];

export const applyCases: readonly BridgeCase[] = [
  applies("creates, updates and deletes as one set, and tells the hashes", async (at) => {
    await at.write("update.txt", "old\n");
    await at.write("delete.txt", "bye\n");
    const answer = await at.apply(
      { path: "new/deep/create.txt", operation: "create", text: "new\n" },
      { path: "update.txt", text: "changed\n", base: "old\n" },
      { path: "delete.txt", operation: "delete", base: "bye\n" },
    );
    assert.equal(answer.error ?? "", "");
    assert.deepEqual(answer.files, [
      {
        path: "new/deep/create.txt",
        operation: ChangeOperation.CREATE,
        beforeSha256: "",
        afterSha256: hashOf("new\n"),
      },
      {
        path: "update.txt",
        operation: ChangeOperation.UPDATE,
        beforeSha256: hashOf("old\n"),
        afterSha256: hashOf("changed\n"),
      },
      { path: "delete.txt", operation: ChangeOperation.DELETE, beforeSha256: hashOf("bye\n"), afterSha256: "" },
    ]);
    assert.deepEqual(await at.tree(), ["new/deep/create.txt", "update.txt"]);
    assert.equal(await at.read("new/deep/create.txt"), "new\n");
    assert.equal(await at.read("update.txt"), "changed\n");
  }),

  ...texts.map(([name, before, after]) =>
    applies(`writes the text byte for byte: ${name}`, async (at) => {
      await at.write("file.txt", before);
      const answer = await at.apply({ path: "file.txt", text: after, base: before });
      assert.equal(answer.error ?? "", "");
      assert.equal(await at.read("file.txt"), after);
      assert.equal(answer.files?.[0]?.afterSha256, hashOf(after));
    }),
  ),

  ...texts.map(([name, , after]) =>
    applies(`creates a file byte for byte: ${name}`, async (at) => {
      await at.apply({ path: "file.txt", operation: "create", text: after });
      assert.equal(await at.read("file.txt"), after);
    }),
  ),

  ...refusals.map(([name, message, change]) =>
    applies(`refuses ${name}, and all the rest of the set`, async (at) => {
      await at.write("a.txt", "a\n");
      await at.write("b.txt", "b\n");
      await at.write("dir/c.txt", "c\n");
      await at.link("out", at.scene.outside);
      await at.link("dangling", "../outside/new.txt");
      await at.refuses(message, { path: "b.txt", text: "changed\n", base: "b\n" }, change);
    }),
  ),

  applies("refuses two changes of one file", async (at) => {
    await at.write("a.txt", "a\n");
    await at.refuses(
      /a\.txt/,
      { path: "a.txt", text: "1\n", base: "a\n" },
      { path: "./a.txt", text: "2\n", base: "a\n" },
    );
  }),

  applies("keeps the permissions of a file", async (at) => {
    await at.write("run.sh", "echo one\n", 0o755);
    await at.apply({ path: "run.sh", text: "echo two\n", base: "echo one\n" });
    assert.equal(await at.mode("run.sh"), 0o755);
  }),

  applies("what it wrote is the base of the next", async (at) => {
    await at.write("a.txt", "1\n");
    for (const [base, text] of [
      ["1\n", "2\n"],
      ["2\n", "3\n"],
      ["3\n", "1\n"],
    ] as const) {
      const answer = await at.apply({ path: "a.txt", text, base });
      assert.equal(answer.error ?? "", "");
    }
    assert.equal(await at.read("a.txt"), "1\n");
  }),

  applies("many files at once", async (at) => {
    const names = Array.from({ length: 40 }, (_, index) => `many/${index}.txt`);
    for (const name of names) await at.write(name, `${name}\n`);
    const answer = await at.apply(...names.map((path) => ({ path, text: `changed ${path}\n`, base: `${path}\n` })));
    assert.equal(answer.error ?? "", "");
    for (const name of names) assert.equal(await at.read(name), `changed ${name}\n`);
  }),
];
