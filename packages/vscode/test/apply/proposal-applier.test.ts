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

async function scene(changes: readonly ProposedChange[]) {
  const directory = await temporaryDirectory({ "a.txt": "a\nb\nc\nd\ne\nf\n" });
  const files = new FakeFiles();
  const said: string[] = [];
  const session: ProposingSession = {
    submitReview: async (review) => void said.push(`review of ${review.hunks.length}`),
    reportApplied: async ({ files: reported, error }) =>
      void said.push(error === "" ? `applied ${reported.map(({ path }) => path).join()}` : `failed: ${error}`),
    blob: async (digest) => {
      const text = [original, "from the blob\n"].find((one) => sha256Hex(one) === digest);
      if (text === undefined) throw new Error("There is no such blob.");
      return new TextEncoder().encode(text);
    },
  };
  const changeSets = new ChangeSets({ files, workspace: directory.root });
  const applier = new ProposalApplier({ files, changeSets, workspace: directory.root });
  const proposal = proposalOf(changes);
  const apply = (hunks: Parameters<ProposalApplier["apply"]>[1]["hunks"]) =>
    applier.apply(proposal, { sessionId: "s", proposalId: "p", hunks, note: "" }, { session, signal });
  return { directory, files, said, apply, changeSets };
}

const keep = (changeId: string, hunkId: string) => ({ changeId, hunkId, decision: { type: "keep" } as const });

test("what was kept is written and reported; the rest stays", async () => {
  const at = await scene([change({})]);
  await using directory = at.directory;
  expect(await at.apply([keep("c1", "h1"), { changeId: "c1", hunkId: "h2", decision: { type: "undo" } }])).toEqual({
    files: ["a.txt"],
  });
  expect(await directory.read("a.txt")).toBe("1\nb\nc\nd\ne\nf\n");
  expect(at.said).toEqual(["review of 2", "applied a.txt"]);
  expect(at.changeSets.has("p")).toBe(true);
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

test("what its user changed since on other lines is kept, on disk and in the buffer, also by an undo", async () => {
  const both = [change({}), change({ id: "c2", path: "b.txt" })];
  const at = await scene(both);
  await using directory = at.directory;
  await directory.write("a.txt", original.replace("c", "C"));
  await directory.write("b.txt", original);
  (await at.files.loadDocument(directory.path("b.txt"))).edit(original.replace("d", "D"), undefined);
  await at.apply([keep("c1", "h1"), keep("c1", "h2"), keep("c2", "h1")]);
  expect(await directory.read("a.txt")).toBe("1\nb\nC\nd\ne\n5\n");
  expect(await directory.read("b.txt")).toBe("1\nb\nc\nD\ne\nf\n");
  expect(at.said).toEqual(["review of 3", "applied a.txt,b.txt"]);
  const document = await at.files.loadDocument(directory.path("a.txt"));
  document.edit("1\nb\nC\nD\ne\n5\n", undefined);
  await document.save();
  (await at.files.loadDocument(directory.path("b.txt"))).edit("1\nb\nc\nD\ne\nF\n", undefined);
  await at.changeSets.revert("p", { signal });
  expect(await directory.read("a.txt")).toBe(original.replace("c", "C").replace("d", "D"));
  expect((await at.files.loadDocument(directory.path("b.txt"))).text).toBe(
    original.replace("d", "D").replace("f", "F"),
  );
});

test.each([
  [
    "the file changed on disk",
    change({}),
    async (at: Awaited<ReturnType<typeof scene>>) => at.directory.write("a.txt", "other\n"),
  ],
  [
    "somebody typed",
    change({}),
    async (at: Awaited<ReturnType<typeof scene>>) =>
      (await at.files.loadDocument(at.directory.path("a.txt"))).edit("typed\n", undefined),
  ],
  ["there is a conflict", change({ conflict: true }), async () => {}],
])("the server is told nothing when %s, so that the file can be left out", async (_, proposed, meddle) => {
  const at = await scene([proposed]);
  await using _directory = at.directory;
  await meddle(at);
  await expect(at.apply([keep("c1", "")])).rejects.toMatchObject({
    code: "stale_file",
    message: expect.stringContaining("a.txt"),
  });
  expect(at.said).toEqual([]);
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
  expect(at.said).toEqual(["review of 1"]);
});
