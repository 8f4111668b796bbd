import { openLocalWorkspace } from "@gennai/machine/workspace/local-workspace";
import { sha256Hex } from "@gennai/protocol/digest";
import { FileBlobStore } from "@gennai/store/sqlite/file-blob-store";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { expect, test } from "vitest";
import { reviewedFiles } from "#proposal/reviewed-files";
import { oneHunk, proposalOf, proposedChange } from "../../../protocol/test/model/session/proposed-change.ts";

const base = "one\ntwo\nthree\nfour\nfive\n";
const proposed = "ONE\ntwo\nthree\nfour\nfive\n";
const users = "one\ntwo\nthree\nfour\nFIVE\n";
const both = "ONE\ntwo\nthree\nfour\nFIVE\n";

test.each<[string, { readonly now: string; readonly known: boolean; readonly state: string; readonly before: string }]>(
  [
    ["not written yet", { now: users, known: true, state: "ready", before: users }],
    ["written, and not recorded", { now: both, known: true, state: "written", before: users }],
    ["changed by nobody knows whom", { now: both, known: false, state: "ready", before: both }],
  ],
)("a review that is sent again after a kill knows what a merged file held before: %s", async (_name, wanted) => {
  await using directory = await temporaryDirectory({ "a.txt": wanted.now });
  await using state = await temporaryDirectory();
  const blobs = new FileBlobStore(state.path("blobs"));
  for (const text of [base, users]) await blobs.put(Buffer.from(text), "text/plain");
  const change = proposedChange({
    newContent: proposed,
    baseSha256: sha256Hex(base),
    baseBlob: { sha256: sha256Hex(base), size: base.length, mediaType: "text/plain" },
    hunks: [oneHunk("h1", 1, ["-one", "+ONE"])],
  });
  const hunk = { changeId: change.id, hunkId: "h1", decision: "keep", editedText: "", note: "" } as const;
  const review = { proposalId: "p", hunks: [hunk], note: "" };
  const workspace = openLocalWorkspace(directory.root, { stateDir: state.root });
  const { signal } = new AbortController();
  const onto = wanted.known ? [{ path: "a.txt", sha256: sha256Hex(users) }] : [];
  const files = await reviewedFiles(proposalOf([change]), review, { workspace, blobs, signal }, onto);
  expect(files).toMatchObject([
    { state: wanted.state, beforeSha256: sha256Hex(wanted.before), afterSha256: sha256Hex(both), text: both },
  ]);
});
