import { createHash } from "node:crypto";
import { createRedactor } from "@gennai/machine/redaction/redactor";
import type { FoundEdit } from "@gennai/shell/found/found-edits";
import { expect, test } from "vitest";
import { SeenContents } from "#session/state/seen-contents";
import { editRecords } from "#tools/commands/edit-records";

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
const megabyte = (fill: number) => Buffer.alloc(1024 * 1024, fill);

test("a command that writes much does not push out what was read before, and is not read for nothing", async () => {
  const blobs = { put: async () => ({}) as never, get: async () => undefined };
  const seen = new SeenContents(blobs, await createRedactor({ secrets: [] }));
  const read = Buffer.from("what the model has read");
  seen.keep(sha256(read), read);
  const wasRead: number[] = [];
  const edits = Array.from({ length: 20 }, (_, at): FoundEdit => {
    const bytes = megabyte(at);
    return {
      path: `${at}.txt`,
      operation: "create",
      before: undefined,
      after: { isLink: false, sha256: sha256(bytes), mode: 0o644 },
      isKeptByCommit: false,
      copied: () => undefined,
      bytesAfter({ maxBytes }) {
        if (bytes.length > maxBytes) return undefined;
        wasRead.push(at);
        return bytes;
      },
    };
  });
  const records = await editRecords({ files: edits, directories: [] }, { blobs, seen });
  expect(records.files).toHaveLength(20);
  expect(wasRead).toEqual([0, 1, 2, 3]);
  expect(await seen.get(sha256(read))).toEqual(read);
  expect(await seen.get(sha256(megabyte(3)))).toHaveLength(1024 * 1024);
});
