import { CheckpointError } from "@gennai/store/checkpoints/checkpoint-error";
import { expect, test } from "vitest";
import { restoredLines } from "#restore/restored-lines";

const bytes = (text: string) => new TextEncoder().encode(text);
const present = (text: string | undefined) =>
  (text === undefined ? { state: { type: "absent" } } : { state: { type: "file" }, bytes: bytes(text) }) as never;
const large = { state: { type: "file", sha256: "large" }, bytes: undefined } as never;

test("lines are counted for texts: those that come back and those that go", async () => {
  const kept: Record<string, Uint8Array> = { one: bytes("a\nb\nc\n"), bin: new Uint8Array([0, 1, 2]) };
  const contents = { read: async ([state]: readonly { sha256: string }[]) => [kept[state?.sha256 ?? ""]] } as never;
  const file = (sha256: string) => ({ type: "file", sha256 }) as never;
  const counted = await restoredLines(
    [
      { path: "changed", present: present("a\nX\nY\nc\n"), target: file("one") },
      { path: "made by the agent", present: present("x\ny\n"), target: { type: "absent" } as never },
      { path: "deleted by the agent", present: present(undefined), target: file("one") },
      { path: "too large to count", present: large, target: { type: "absent" } as never },
      { path: "binary", present: present("x\n"), target: file("bin") },
    ],
    contents,
  );
  expect(counted).toEqual([
    { path: "changed", added: 1, removed: 2 },
    { path: "made by the agent", added: 0, removed: 2 },
    { path: "deleted by the agent", added: 3, removed: 0 },
  ]);
});

test("a file whose content from before is gone has no counts, and the others have theirs", async () => {
  const gone = { type: "file", sha256: "gone" } as never;
  const contents = {
    async read() {
      throw new CheckpointError("not_kept", "It is no longer kept.");
    },
  } as never;
  const restores = [
    { path: "gone", present: present("a\n"), target: gone },
    { path: "made by the agent", present: present("x\n"), target: { type: "absent" } as never },
  ];
  expect(await restoredLines(restores, contents)).toEqual([{ path: "made by the agent", added: 0, removed: 1 }]);
  const broken = { read: async () => Promise.reject(new CheckpointError("disk_failed", "Look at the disk.")) } as never;
  await expect(restoredLines(restores, broken)).rejects.toThrow("Look at the disk.");
});
