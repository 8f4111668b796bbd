import { CheckpointError } from "@gennai/store/checkpoints/checkpoint-error";
import type { FileState } from "@gennai/store/checkpoints/file-state";
import { expect, test } from "vitest";
import { FileContents } from "#restore/file-contents";
import { restoredLines } from "#restore/restore-checkpoint";

const bytes = (text: string) => new TextEncoder().encode(text);
/** The test's files have their text as digest. */
const present = (text: string | undefined) =>
  text === undefined ? { type: "absent" as const } : { type: "file" as const, sha256: text };
const large = present("large");
const files = {
  bytes: async (_path: string, state: FileState) =>
    "sha256" in state && state.sha256 !== "large" ? bytes(state.sha256 ?? "") : undefined,
};
const isOnlyMode = false;
const storedAs = (get: (digest: string) => Promise<Uint8Array | undefined>): FileContents =>
  new FileContents({ get }, { contents: async () => new Map() });

test("lines are counted for texts: those that come back and those that go", async () => {
  const kept: Record<string, Uint8Array> = { one: bytes("a\nb\nc\n"), bin: new Uint8Array([0, 1, 2]) };
  const contents = storedAs(async (digest) => kept[digest]);
  const file = (sha256: string) => ({ type: "file", sha256 }) as never;
  const counted = await restoredLines(
    [
      { path: "changed", present: present("a\nX\nY\nc\n"), target: file("one"), isOnlyMode },
      { path: "made by the agent", present: present("x\ny\n"), target: { type: "absent" as const }, isOnlyMode },
      { path: "deleted by the agent", present: present(undefined), target: file("one"), isOnlyMode },
      { path: "too large to count", present: large, target: { type: "absent" as const }, isOnlyMode },
      { path: "binary", present: present("x\n"), target: file("bin"), isOnlyMode },
    ],
    contents,
    files,
  );
  expect(counted).toEqual([
    { path: "changed", added: 1, removed: 2 },
    { path: "made by the agent", added: 0, removed: 2 },
    { path: "deleted by the agent", added: 3, removed: 0 },
  ]);
});

test("a file whose content from before is gone has no counts, and the others have theirs", async () => {
  const gone = { type: "file", sha256: "gone" } as never;
  const contents = storedAs(async () => undefined);
  const restores = [
    { path: "gone", present: present("a\n"), target: gone, isOnlyMode },
    { path: "made by the agent", present: present("x\n"), target: { type: "absent" as const }, isOnlyMode },
  ];
  expect(await restoredLines(restores, contents, files)).toEqual([{ path: "made by the agent", added: 0, removed: 1 }]);
  const broken = storedAs(() => Promise.reject(new CheckpointError("disk_failed", "Look at the disk.")));
  await expect(restoredLines(restores, broken, files)).rejects.toThrow("Look at the disk.");
});
