import { sha256Hex } from "@gennai/protocol/digest";
import type { ProposedChange } from "@gennai/protocol/model/session/proposal";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { oneHunk, proposalOf, proposedChange } from "../../../protocol/test/model/session/proposed-change.ts";
import { ChangeSets } from "../../src/apply/change-sets.ts";
import { ProposalApplier, type ProposingSession } from "../../src/apply/proposal-applier.ts";
import { FakeFiles } from "../fake-files.ts";

const { signal } = new AbortController();

const original = "a\nb\nc\nd\ne\nf\n";
const change = (more: Partial<ProposedChange>): ProposedChange =>
  proposedChange({
    newContent: "1\nb\nc\nd\ne\n5\n",
    baseSha256: sha256Hex(original),
    hunks: [oneHunk("h1", 1, ["-a", "+1"]), oneHunk("h2", 6, ["-f", "+5"])],
    ...more,
  });

async function scene(changes: readonly ProposedChange[], wantsRest = false) {
  const directory = await temporaryDirectory({ "a.txt": "a\nb\nc\nd\ne\nf\n" });
  const files = new FakeFiles();
  const said: string[] = [];
  const session: ProposingSession = {
    submitReview: async ({ hunks }) =>
      void said.push(
        `review of ${hunks.length}, ${hunks.filter(({ decision }) => decision.type === "keep").length} kept`,
      ),
    reportApplied: async ({ files: reported, error }) =>
      void said.push(error === "" ? `applied ${reported.map(({ path }) => path).join()}` : `failed: ${error}`),
    blob: async (digest) => {
      const text = [original, "from the blob\n"].find((one) => sha256Hex(one) === digest);
      if (text === undefined) throw new Error("There is no such blob.");
      return new TextEncoder().encode(text);
    },
  };
  const changeSets = new ChangeSets({ files, workspace: directory.root });
  const merged: unknown[] = [];
  const applier = new ProposalApplier({
    files,
    changeSets,
    workspace: directory.root,
    ask: async (overlaps, rest) => {
      said.push(`asked about ${overlaps.map(({ path }) => path).join()}, and ${rest} more`);
      return wantsRest;
    },
    merge: async (overlaps) => void merged.push(...overlaps),
  });
  const proposal = proposalOf(changes);
  const apply = (hunks: Parameters<ProposalApplier["apply"]>[1]["hunks"]) =>
    applier.apply(proposal, { sessionId: "s", proposalId: "p", hunks, note: "" }, { session, signal });
  return { directory, files, said, apply, merged };
}

const keep = (changeId: string, hunkId: string) => ({ changeId, hunkId, decision: { type: "keep" } as const });

test("what was kept is written and reported; the rest stays", async () => {
  const at = await scene([change({})]);
  await using directory = at.directory;
  expect(await at.apply([keep("c1", "h1"), { changeId: "c1", hunkId: "h2", decision: { type: "undo" } }])).toEqual({
    files: ["a.txt"],
  });
  expect(await directory.read("a.txt")).toBe("1\nb\nc\nd\ne\nf\n");
  expect(at.said).toEqual(["review of 2, 1 kept", "applied a.txt"]);
});

test("a new file comes from its blob", async () => {
  const at = await scene([
    change({
      path: "new.txt",
      operation: "create",
      baseSha256: "",
      newContent: "",
      newContentBlob: { sha256: sha256Hex("from the blob\n"), size: 14, mediaType: "" },
      hunks: [],
    }),
  ]);
  await using directory = at.directory;
  await at.apply([keep("c1", "")]);
  expect(await directory.read("new.txt")).toBe("from the blob\n");
});

test("unsaved changes that the proposal is based on are part of it, and saved with it", async () => {
  const at = await scene([change({ baseSha256: sha256Hex("mine\n"), newContent: "mine too\n", hunks: [] })]);
  await using directory = at.directory;
  (await at.files.loadDocument(directory.path("a.txt"))).edit("mine\n", undefined);
  await at.apply([keep("c1", "")]);
  expect(await directory.read("a.txt")).toBe("mine too\n");
});

test("what its user changed since on other lines is kept, on disk and in the buffer", async () => {
  const both = [change({}), change({ id: "c2", path: "b.txt" })];
  const at = await scene(both);
  await using directory = at.directory;
  await directory.write("a.txt", original.replace("c", "C"));
  await directory.write("b.txt", original);
  (await at.files.loadDocument(directory.path("b.txt"))).edit(original.replace("d", "D"), undefined);
  await at.apply([keep("c1", "h1"), keep("c1", "h2"), keep("c2", "h1")]);
  expect(await directory.read("a.txt")).toBe("1\nb\nC\nd\ne\n5\n");
  expect(await directory.read("b.txt")).toBe("1\nb\nc\nD\ne\nf\n");
  expect(at.said).toEqual(["review of 3, 3 kept", "applied a.txt,b.txt"]);
});

test.each([
  [
    "the same lines changed on disk",
    change({}),
    async (at: Awaited<ReturnType<typeof scene>>) => at.directory.write("a.txt", "other\n"),
    ["asked about a.txt, and 0 more"],
  ],
  [
    "somebody typed there",
    change({}),
    async (at: Awaited<ReturnType<typeof scene>>) =>
      (await at.files.loadDocument(at.directory.path("a.txt"))).edit("typed\n", undefined),
    ["asked about a.txt, and 0 more"],
  ],
  ["there is a conflict", change({ conflict: true }), async () => {}, []],
])("the server is told nothing when %s, so that the file can be left out", async (_, proposed, meddle, said) => {
  const at = await scene([proposed]);
  await using _directory = at.directory;
  await meddle(at);
  await expect(at.apply([keep("c1", "")])).rejects.toMatchObject({
    code: "stale_file",
    message: expect.stringContaining("a.txt"),
  });
  expect(at.said).toEqual(said);
});

test("the rest is applied at once, and the file with the same lines is its user's to merge", async () => {
  const at = await scene([change({}), change({ id: "c2", path: "b.txt" })], true);
  await using directory = at.directory;
  await directory.write("a.txt", original.replace("a", "mine"));
  await directory.write("b.txt", original.replace("d", "D"));
  expect(await at.apply([keep("c1", "h1"), keep("c1", "h2"), keep("c2", "h1")])).toEqual({ files: ["b.txt"] });
  expect(at.said).toEqual(["asked about a.txt, and 1 more", "review of 3, 1 kept", "applied b.txt"]);
  expect(await directory.read("a.txt")).toBe(original.replace("a", "mine"));
  expect(await directory.read("b.txt")).toBe("1\nb\nc\nD\ne\nf\n");
  const [wanted, present] = ["1\nb\nc\nd\ne\n5\n", original.replace("a", "mine")];
  expect(at.merged).toEqual([{ path: "a.txt", from: original, wanted, present }]);
});

test("the server learns that nothing was written", async () => {
  const at = await scene([change({})]);
  await using directory = at.directory;
  at.files.failEdit = () => true;
  await expect(at.apply([keep("c1", "")])).rejects.toThrow(/Nothing was applied/);
  expect(at.said[1]).toMatch(/^failed: Nothing was applied/);
  expect(await directory.read("a.txt")).toBe("a\nb\nc\nd\ne\nf\n");
});

test("when nothing is kept, that is told and nothing written", async () => {
  const at = await scene([change({})]);
  await using _directory = at.directory;
  expect(await at.apply([{ changeId: "c1", hunkId: "", decision: { type: "undo" } }])).toEqual({ files: [] });
  expect(at.said).toEqual(["review of 1, 0 kept"]);
});
