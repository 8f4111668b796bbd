import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { sha256Hex } from "@gennai/protocol/digest";
import { type InvokeEvent, InvokeEventSchema } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { expect, onTestFinished, test, vi } from "vitest";
import { UnseenChanges } from "../../src/review/unseen-changes.ts";
import { unseenHunks } from "../../src/review/unseen-file.ts";

type Content = string | Uint8Array | undefined;

/** A session and the disk, with what they hold by digest and by path. */
function scene(found?: string) {
  const blobs = new Map<string, Uint8Array>();
  const disk = new Map<string, Uint8Array>();
  const problems: string[] = [];
  const kept: string[] = found === undefined ? [] : [found];
  /** What was kept each time when the changes were shown anew. */
  const shown: (string | undefined)[] = [];
  /** What the server does before it answers. */
  const server = { answer: async (): Promise<void> => undefined };
  const bytesOf = (content: string | Uint8Array) => (typeof content === "string" ? Buffer.from(content) : content);
  const digestOf = (content: Content, isKept: boolean) => {
    if (content === undefined) return "";
    const bytes = bytesOf(content);
    if (isKept) blobs.set(sha256Hex(bytes), bytes);
    return sha256Hex(bytes);
  };
  const unseen = new UnseenChanges({
    load: async () => kept.at(-1),
    save: async (json) => void kept.push(json),
    read: async (path) => disk.get(path),
    changed: () => void shown.push(kept.at(-1)),
    onProblem: (what) => void problems.push(what),
  });
  onTestFinished(() => unseen[Symbol.dispose]());
  const session = {
    sessionId: "s",
    blob: async (sha256: string) => {
      await server.answer();
      const found = blobs.get(sha256);
      if (found === undefined) throw new ConnectError("purged", Code.NotFound);
      return found;
    },
  };
  const wrote = (
    seq: number,
    path: string,
    before: Content,
    after: Content,
    more: { isKept?: boolean; proposalId?: string; changeSetId?: string; sessionId?: string } = {},
  ) => {
    const { isKept = true, proposalId = "", changeSetId = "t", sessionId = "s" } = more;
    const files = [{ path, beforeSha256: digestOf(before, isKept), afterSha256: digestOf(after, isKept) }];
    const event: InvokeEvent = create(InvokeEventSchema, {
      seq: BigInt(seq),
      event: { case: "changeSetApplied", value: { changeSetId, files, proposalId } },
    });
    unseen.onEvent(event, { ...session, sessionId });
  };
  const undone = (
    seq: number,
    path: string,
    before: Content,
    after: Content,
    more: { changeSetId?: string; sessionId?: string } = {},
  ) => {
    const { changeSetId = "t", sessionId = "s" } = more;
    const files = [{ path, beforeSha256: digestOf(before, true), afterSha256: digestOf(after, true) }];
    const event: InvokeEvent = create(InvokeEventSchema, {
      seq: BigInt(seq),
      event: { case: "changeSetUndone", value: { changeSetId, files } },
    });
    unseen.onEvent(event, { ...session, sessionId });
  };
  const moved = (seq: number, from: string, to: string, text: string, kind: "changeSetApplied" | "changeSetUndone") => {
    const sha256 = digestOf(text, true);
    const files = [
      { path: from, beforeSha256: sha256 },
      { path: to, afterSha256: sha256 },
    ];
    const event: InvokeEvent = create(InvokeEventSchema, {
      seq: BigInt(seq),
      event: { case: kind, value: { changeSetId: "t", files } },
    });
    unseen.onEvent(event, session);
  };
  /** What another window finds. */
  const saved = async () => {
    unseen[Symbol.dispose]();
    await vi.waitFor(() => expect(JSON.parse(kept.at(-1) ?? "").files).toHaveLength(unseen.files.length));
    return kept.at(-1);
  };
  const texts = () => unseen.files.map(({ path, base, agent }) => [path, base, agent]);
  return { unseen, wrote, undone, moved, disk, problems, kept, shown, texts, server, saved };
}

test("what the agent wrote is there until its user looked, over a reload too, and no event counts twice", async () => {
  const { unseen, wrote, saved, texts } = scene();
  wrote(1, "a.txt", "a\nb\nc\n", "A\nb\nc\n");
  wrote(2, "a.txt", "A\nb\nc\n", "A\nb\nC\n");
  wrote(3, "new.txt", undefined, "new\n");
  await vi.waitFor(() => expect(texts()).toHaveLength(2));
  const [first] = unseenHunks(unseen.of("a.txt") ?? { path: "", base: "", agent: "" });
  unseen.look("a.txt", first?.id ?? "");
  expect(texts()).toEqual([
    ["new.txt", undefined, "new\n"],
    ["a.txt", "A\nb\nc\n", "A\nb\nC\n"],
  ]);
  const again = scene(await saved());
  again.wrote(1, "a.txt", "a\nb\nc\n", "A\nb\nc\n");
  again.wrote(4, "b.txt", "x\n", "y\n");
  await vi.waitFor(() => expect(again.texts()).toHaveLength(3));
  expect(again.texts().slice(0, 2)).toEqual(texts());
  again.unseen.lookAt(again.unseen.files.map(({ path }) => path));
  expect(again.texts()).toEqual([]);
  const { unseen: third } = scene(await again.saved());
  await third.load();
  expect(third.files).toEqual([]);
});

type Writes = Pick<ReturnType<typeof scene>, "wrote" | "moved">;

const renames: readonly {
  readonly name: string;
  readonly write: (scene: Writes) => void;
  readonly wanted: readonly (readonly [path: string, base: Content, agent: Content, movedFrom: string | undefined])[];
}[] = [
  {
    name: "a rename is one change",
    write: ({ moved }) => moved(1, "a.txt", "b.txt", "a\n", "changeSetApplied"),
    wanted: [["b.txt", "a\n", "a\n", "a.txt"]],
  },
  {
    name: "a rename of what the agent wrote, and more of it after",
    write({ wrote, moved }) {
      wrote(1, "a.txt", "a\n", "b\n");
      moved(2, "a.txt", "b.txt", "b\n", "changeSetApplied");
      wrote(3, "b.txt", "b\n", "c\n");
    },
    wanted: [["b.txt", "a\n", "c\n", "a.txt"]],
  },
  {
    name: "a new file that was renamed is a new file",
    write({ wrote, moved }) {
      wrote(1, "a.txt", undefined, "a\n");
      moved(2, "a.txt", "b.txt", "a\n", "changeSetApplied");
    },
    wanted: [["b.txt", undefined, "a\n", undefined]],
  },
  {
    name: "two renames are one, and one back is none",
    write({ moved }) {
      moved(1, "a.txt", "b.txt", "a\n", "changeSetApplied");
      moved(2, "b.txt", "c.txt", "a\n", "changeSetApplied");
      moved(3, "x.txt", "y.txt", "x\n", "changeSetApplied");
      moved(4, "y.txt", "x.txt", "x\n", "changeSetApplied");
    },
    wanted: [["c.txt", "a\n", "a\n", "a.txt"]],
  },
  {
    name: "what was renamed and deleted is the old file, deleted",
    write({ wrote, moved }) {
      moved(1, "a.txt", "b.txt", "a\n", "changeSetApplied");
      wrote(2, "b.txt", "a\n", undefined);
    },
    wanted: [["a.txt", "a\n", undefined, undefined]],
  },
  {
    name: "a rename that a person took back, with what was written at the old path",
    write({ wrote, moved }) {
      wrote(1, "a.txt", "a\n", "b\n");
      moved(2, "a.txt", "b.txt", "b\n", "changeSetApplied");
      moved(3, "b.txt", "a.txt", "b\n", "changeSetUndone");
    },
    wanted: [["a.txt", "a\n", "b\n", undefined]],
  },
];

test.each(renames)("$name", async ({ write, wanted }) => {
  const { unseen, wrote, moved, saved } = scene();
  write({ wrote, moved });
  wrote(9, "last.txt", "x\n", "y\n");
  await vi.waitFor(() => expect(unseen.of("last.txt")).toBeDefined());
  const { unseen: again } = scene(await saved());
  await again.load();
  for (const { files } of [unseen, again]) {
    expect(files.slice(0, -1).map(({ path, base, agent, movedFrom }) => [path, base, agent, movedFrom])).toEqual(
      wanted,
    );
  }
});

test("a rename that was undone in the editor leaves what was written, at the old path", async () => {
  const { unseen, wrote, moved, disk } = scene();
  wrote(1, "a.txt", "a\n", "b\n");
  moved(2, "a.txt", "b.txt", "b\n", "changeSetApplied");
  moved(3, "x.txt", "y.txt", "x\n", "changeSetApplied");
  await vi.waitFor(() => expect(unseen.of("y.txt")).toBeDefined());
  disk.set("a.txt", Buffer.from("b\n"));
  disk.set("x.txt", Buffer.from("x\n"));
  for (const path of ["b.txt", "y.txt"]) await unseen.recheck(path);
  expect(unseen.files).toEqual([{ path: "a.txt", base: "a\n", agent: "b\n" }]);
});

test.each([
  { name: "kept of a proposal", before: "a\n", after: "b\n", more: { proposalId: "p" }, problems: 0 },
  { name: "no text", before: "a\n", after: new Uint8Array([0xff, 0xfe, 0x00]), more: {}, problems: 1 },
  { name: "too large", before: "a\n", after: "x".repeat(3 * 1024 * 1024), more: {}, problems: 1 },
  { name: "nowhere to be had", before: "a\n", after: "b\n", more: { isKept: false }, problems: 1 },
])("what is $name is not followed", async ({ before, after, more, problems: wanted }) => {
  const { wrote, problems, texts } = scene();
  wrote(1, "a.txt", before, after, more);
  wrote(2, "then.txt", "1\n", "2\n");
  await vi.waitFor(() => expect(texts()).toHaveLength(1));
  expect({ texts: texts(), problems: problems.length }).toEqual({
    texts: [["then.txt", "1\n", "2\n"]],
    problems: wanted,
  });
});

test("a text that the server does not hold is taken from the file while it is that", async () => {
  const { wrote, disk, texts } = scene();
  disk.set("a.txt", Buffer.from("b\n"));
  wrote(1, "a.txt", undefined, "b\n", { isKept: false });
  await vi.waitFor(() => expect(texts()).toEqual([["a.txt", undefined, "b\n"]]));
});

test.each(["no JSON", "{}", '{"heard":[["s","x"]],"files":[]}'])(
  "a damaged store is said, and nothing is lost after it: %s",
  async (saved) => {
    const { wrote, problems, texts } = scene(saved);
    wrote(1, "a.txt", "a\n", "b\n");
    await vi.waitFor(() => expect(texts()).toHaveLength(1));
    expect(problems).toEqual(["The list of changes to look at could not be read."]);
  },
);

test("what a person took back is not a change of the agent, and is not shown as one", async () => {
  const { wrote, undone, texts, unseen } = scene();
  wrote(1, "a.txt", "a\n", "b\n", { changeSetId: "one" });
  wrote(2, "b.txt", "a\n", "b\n", { changeSetId: "two" });
  await vi.waitFor(() => expect(texts()).toHaveLength(2));
  unseen.lookAt(unseen.files.map(({ path }) => path));
  wrote(3, "a.txt", "b\n", "c\n", { changeSetId: "three" });
  undone(4, "a.txt", "c\n", "b\n", { changeSetId: "three" });
  undone(5, "b.txt", "b\n", "a\n", { changeSetId: "two" });
  wrote(6, "then.txt", "1\n", "2\n");
  await vi.waitFor(() => expect(texts()).not.toEqual([]));
  expect(texts()).toEqual([["then.txt", "1\n", "2\n"]]);
});

test("a fork, which reports what was taken back before it began, changes nothing", async () => {
  const { wrote, undone, texts } = scene();
  wrote(1, "a.txt", "a\n", "d\n", { changeSetId: "later" });
  await vi.waitFor(() => expect(texts()).toHaveLength(1));
  undone(1, "a.txt", "b\n", "a\n", { changeSetId: "earlier", sessionId: "fork" });
  wrote(2, "then.txt", "1\n", "2\n", { sessionId: "fork" });
  await vi.waitFor(() => expect(texts()).toHaveLength(2));
  expect(texts()[0]).toEqual(["a.txt", "a\n", "d\n"]);
});

test("what one looks at while contents are fetched stays looked at", async () => {
  const { wrote, texts, unseen, server } = scene();
  wrote(1, "a.txt", "a\nb\nc\n", "A\nb\nc\n");
  await vi.waitFor(() => expect(texts()).toHaveLength(1));
  const asked = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  server.answer = async () => {
    asked.resolve();
    await goOn.promise;
  };
  wrote(2, "a.txt", "A\nb\nc\n", "A\nb\nC\n");
  await asked.promise;
  unseen.look("a.txt", unseenHunks(unseen.of("a.txt") ?? { path: "", base: "", agent: "" })[0]?.id ?? "");
  expect(texts()).toEqual([]);
  goOn.resolve();
  await vi.waitFor(() => expect(texts()).toEqual([["a.txt", "A\nb\nc\n", "A\nb\nC\n"]]));
});

test("a server that is away for a while loses nothing of what was written, in its order", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { wrote, texts, problems, server, unseen } = scene();
  wrote(1, "a.txt", "a\nb\nc\n", "A\nb\nc\n");
  await vi.advanceTimersByTimeAsync(200);
  server.answer = async () => {
    throw new ConnectError("away", Code.Unavailable);
  };
  wrote(2, "a.txt", "A\nb\nc\n", "A\nb\nC\n");
  wrote(3, "b.txt", "x\n", "y\n");
  await vi.advanceTimersByTimeAsync(25_000);
  expect({ texts: texts(), problems: problems.length }).toEqual({
    texts: [["a.txt", "a\nb\nc\n", "A\nb\nc\n"]],
    problems: 1,
  });
  server.answer = async () => undefined;
  await vi.advanceTimersByTimeAsync(11_000);
  expect(texts()).toEqual([
    ["a.txt", "a\nb\nc\n", "A\nb\nC\n"],
    ["b.txt", "x\n", "y\n"],
  ]);
  unseen[Symbol.dispose]();
});

test("a content that is gone for good leaves what was followed before", async () => {
  const { wrote, texts, problems } = scene();
  wrote(1, "a.txt", "a\n", "b\n");
  await vi.waitFor(() => expect(texts()).toHaveLength(1));
  wrote(2, "a.txt", "b\n", "gone\n", { isKept: false });
  wrote(3, "then.txt", "1\n", "2\n");
  await vi.waitFor(() => expect(texts()).toHaveLength(2));
  expect({ first: texts()[0], problems: problems.length }).toEqual({ first: ["a.txt", "a\n", "b\n"], problems: 1 });
});

test("looks are saved at once, also right after a save, and many together", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const lines = Array.from({ length: 40 }, (_, index) => `${index}\n`);
  const { wrote, unseen, kept, shown } = scene();
  wrote(1, "a.txt", lines.join(""), lines.map((line, index) => (index % 2 === 0 ? `new ${line}` : line)).join(""));
  const look = () =>
    unseen.look("a.txt", unseenHunks(unseen.of("a.txt") ?? { path: "", base: "", agent: "" })[0]?.id ?? "");
  const isKept = () => expect(JSON.parse(kept.at(-1) ?? "").files).toEqual(unseen.files);
  await vi.advanceTimersByTimeAsync(2000);
  expect(kept).toHaveLength(1);
  look();
  await vi.advanceTimersByTimeAsync(0);
  expect(kept).toHaveLength(2);
  // Whoever sees it may reload.
  expect(shown.at(-1)).toBe(kept[1]);
  // A window that is reloaded now has all of them.
  for (let count = 0; count < 10; count++) look();
  await vi.advanceTimersByTimeAsync(0);
  expect(kept).toHaveLength(3);
  isKept();
  await vi.advanceTimersByTimeAsync(2000);
  expect(kept).toHaveLength(3);
  look();
  look();
  unseen[Symbol.dispose]();
  await vi.advanceTimersByTimeAsync(0);
  expect(kept).toHaveLength(4);
  isKept();
});

test("what the agent writes soon after a save is saved a little later, together, or with the next look", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { wrote, unseen, kept } = scene();
  wrote(1, "a.txt", "a\n", "b\n");
  await vi.advanceTimersByTimeAsync(200);
  wrote(2, "b.txt", "a\n", "b\n");
  await vi.advanceTimersByTimeAsync(200);
  wrote(3, "c.txt", "a\n", "b\n");
  await vi.advanceTimersByTimeAsync(200);
  expect([kept.length, unseen.files.length]).toEqual([1, 3]);
  await vi.advanceTimersByTimeAsync(1000);
  expect(kept).toHaveLength(2);
  wrote(4, "d.txt", "a\n", "b\n");
  await vi.advanceTimersByTimeAsync(200);
  expect([kept.length, unseen.files.length]).toEqual([2, 4]);
  unseen.lookAt(unseen.files.map(({ path }) => path));
  await vi.advanceTimersByTimeAsync(0);
  expect(kept).toHaveLength(3);
  await vi.advanceTimersByTimeAsync(3000);
  expect(kept).toHaveLength(3);
});

test.each([
  { name: "as it was", now: "a\r\n", wanted: 0 },
  { name: "changed by hand", now: "mine\n", wanted: 1 },
  { name: "gone", now: undefined, wanted: 1 },
])("a file that is $name on disk", async ({ now, wanted }) => {
  const { wrote, disk, unseen, texts } = scene();
  wrote(1, "a.txt", "a\n", "b\n");
  await vi.waitFor(() => expect(texts()).toHaveLength(1));
  if (now !== undefined) disk.set("a.txt", Buffer.from(now));
  await unseen.recheck("a.txt");
  expect(texts()).toHaveLength(wanted);
});
