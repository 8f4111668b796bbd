import { sha256Hex } from "@gennai/protocol/digest";
import type { AppliedFile } from "@gennai/protocol/model/session/proposal";
import { expect, it, vi } from "vitest";
import { ChangeContents } from "#control/session/change-contents";

const bytesOf = (text: string) => new TextEncoder().encode(text);

function serving(...contents: readonly Uint8Array[]) {
  const blobs = new Map(contents.map((bytes) => [sha256Hex(bytes), bytes]));
  const asked: string[] = [];
  const contentsOf = new ChangeContents(async (sha256) => {
    asked.push(sha256);
    const found = blobs.get(sha256);
    if (found === undefined) throw new Error("purged");
    return found;
  });
  return { contentsOf, asked };
}

async function settled(contents: ChangeContents, file: AppliedFile) {
  const content = contents.of(file);
  await vi.waitFor(() => expect(content.value.type).not.toBe("loading"));
  return content.value;
}

const change = (before: string | undefined, after: string | undefined): AppliedFile => ({
  path: "a.ts",
  operation: before === undefined ? "create" : after === undefined ? "delete" : "update",
  beforeSha256: before === undefined ? undefined : sha256Hex(before),
  afterSha256: after === undefined ? undefined : sha256Hex(after),
});

it("compares what the server kept of both sides, fetched once", async () => {
  const { contentsOf, asked } = serving(bytesOf("\uFEFFone\n"), bytesOf("\uFEFFtwo\n"));
  const file = change("\uFEFFone\n", "\uFEFFtwo\n");
  expect(await settled(contentsOf, file)).toMatchObject({
    before: "one\n",
    after: "two\n",
    diff: { added: 1, removed: 1 },
  });
  await settled(contentsOf, file);
  expect(asked).toHaveLength(2);
});

it("asks for nothing where there was no file, or is none any more", async () => {
  const { contentsOf, asked } = serving(bytesOf("x\n"));
  expect(await settled(contentsOf, change(undefined, "x\n"))).toMatchObject({ diff: { added: 1, removed: 0 } });
  expect(await settled(contentsOf, change("x\n", undefined))).toMatchObject({ diff: { added: 0, removed: 1 } });
  expect(asked).toEqual([sha256Hex("x\n"), sha256Hex("x\n")]);
});

it("shows nothing that is not what the digest says, is no text, or is not kept", async () => {
  const wrong = new ChangeContents(async () => bytesOf("forged\n"));
  expect(await settled(wrong, change(undefined, "x\n"))).toMatchObject({ type: "unknown" });
  const { contentsOf } = serving(new Uint8Array([0xff, 0xfe, 0]));
  const binary: AppliedFile = { ...change(undefined, "x"), afterSha256: sha256Hex(new Uint8Array([0xff, 0xfe, 0])) };
  expect(await settled(contentsOf, binary)).toEqual({ type: "binary", bytes: 3 });
  expect(await settled(contentsOf, change("gone\n", "too\n"))).toMatchObject({ type: "unknown" });
});
