import assert from "node:assert/strict";
import { EndOfLine, FileSource } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { type BridgeCase, hashOf, type SceneTools } from "./bridge-scene.ts";

const reads = (name: string, check: (at: SceneTools) => Promise<void>): BridgeCase => ({
  name,
  ability: "readFile",
  check,
});

const files: readonly (readonly [name: string, bytes: string, content: string, eol: EndOfLine, lines: number])[] = [
  ["LF", "one\ntwo\n", "one\ntwo\n", EndOfLine.LF, 2],
  ["CRLF", "one\r\ntwo\r\n", "one\r\ntwo\r\n", EndOfLine.CRLF, 2],
  ["both line ends", "one\r\ntwo\n", "one\r\ntwo\n", EndOfLine.CRLF, 2],
  ["no line end at the end", "one\ntwo", "one\ntwo", EndOfLine.LF, 2],
  ["an empty file", "", "", EndOfLine.LF, 0],
];

const refused: readonly (readonly [name: string, path: string])[] = [
  ["a file that is not there", "none.txt"],
  ["a directory", "dir"],
  ["a binary file", "binary"],
  ["a path above the workspace", "../outside/secret"],
  ["an absolute path", "/etc/hosts"],
  ["a link that leads out", "out/secret"],
  ["no path", ""],
];

export const readCases: readonly BridgeCase[] = [
  ...files.map(([name, bytes, content, eol, lines]) =>
    reads(`gives what is on disk: ${name}`, async (at) => {
      await at.write("file.txt", bytes);
      const answer = await at.readFile("file.txt");
      assert.equal(answer.error ?? "", "");
      assert.equal(answer.content, content);
      assert.equal(answer.eol, eol);
      assert.equal(answer.totalLines, lines);
      assert.equal(answer.sha256, hashOf(bytes));
      assert.equal(answer.diskSha256, hashOf(bytes));
      assert.equal(answer.dirty, false);
      assert.equal(answer.truncated, false);
      assert.ok(answer.source === FileSource.DISK || answer.source === FileSource.BUFFER);
    }),
  ),

  reads("leaves a byte order mark out of the text and says that it is there", async (at) => {
    await at.write("file.txt", "\uFEFFone\n");
    const answer = await at.readFile("file.txt");
    assert.equal(answer.content, "one\n");
    assert.equal(answer.bom, true);
    assert.equal(answer.sha256, hashOf("\uFEFFone\n"));
  }),

  reads("gives the lines that were asked for, and the hash of the whole", async (at) => {
    const text = "1\n2\n3\n4\n5\n";
    await at.write("file.txt", text);
    const answer = await at.readFile("file.txt", { offset: 2, limit: 2 });
    assert.equal(answer.content, "2\n3\n");
    assert.equal(answer.sha256, hashOf(text));
    assert.equal(answer.totalLines, 5);
    assert.equal((await at.readFile("file.txt", { offset: 5, limit: 10 })).content, "5\n");
    assert.equal((await at.readFile("file.txt", { offset: 9, limit: 1 })).content, "");
  }),

  ...refused.map(([name, path]) =>
    reads(`refuses ${name}`, async (at) => {
      await at.write("dir/file.txt", "x\n");
      await at.write("binary", Uint8Array.of(0, 1, 2, 0));
      await at.link("out", at.scene.outside);
      const answer = await at.readFile(path);
      assert.notEqual(answer.error ?? "", "");
      assert.equal(answer.content ?? "", "");
    }),
  ),
];
