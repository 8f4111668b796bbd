import type { AgentSession } from "@gennai/client/session/agent-session";
import { sha256Hex } from "@gennai/protocol/digest";
import { beforeEach, expect, test, vi } from "vitest";
import { revert } from "#commands/revert";
import type { Workbench } from "#commands/workbench";

const { said, answers } = vi.hoisted(() => ({ said: [] as unknown[][], answers: [] as (string | undefined)[] }));
vi.mock("vscode", () => ({
  window: {
    showWarningMessage: async (...words: readonly unknown[]) => {
      said.push([...words]);
      return answers.shift();
    },
    showInformationMessage: async (...words: readonly unknown[]) => void said.push([...words]),
  },
  workspace: {
    openTextDocument: async () => ({ getText: () => "mine\n" }),
    textDocuments: [
      { isDirty: true, uri: `${process.cwd()}/b.ts`, save: async () => said.push(["saved"]) > 0 },
      { isDirty: false, uri: `${process.cwd()}/a.ts` },
    ],
  },
  commands: {
    executeCommand: async (name: string, { base, input1, input2 }: Record<string, unknown>) =>
      void said.push([name, base, input1, input2]),
  },
  Uri: { file: (path: string) => path },
}));

const was = "before\n";
const left = "after\n";
const files = ["a.ts", "large.bin", "b.ts"].map((path) => ({
  path,
  beforeSha256: sha256Hex(was),
  afterSha256: sha256Hex(left),
}));

/** The server's calls, which leaves these files as they are. */
function server(skipped: readonly { readonly path: string; readonly reason: string }[]) {
  const calls: unknown[] = [];
  const undo = async ({
    changeSetId,
    dryRun = false,
    rest = false,
  }: {
    readonly changeSetId?: string;
    readonly dryRun?: boolean;
    readonly rest?: boolean;
  }) => {
    calls.push({ changeSetId, dryRun, rest });
    return { changeSetId: "newest", files: dryRun ? [] : [{ path: "a.ts" }], skipped, refs: [] };
  };
  const blob = async (sha256: string) =>
    new TextEncoder().encode([was, left].find((text) => sha256Hex(text) === sha256));
  return { calls, session: { undo, blob } as unknown as AgentSession };
}

const workbench = {
  root: process.cwd(),
  documents: { group: () => ({ add: (path: string, text: string) => `${path}: ${text}` }) },
  sessions: { view: { changeSets: [{ changeSetId: "newest", files }] } },
} as unknown as Workbench;

beforeEach(() => {
  said.length = answers.length = 0;
});

const overlap = { path: "b.ts", reason: "changed_since" };
const lost = { path: "large.bin", reason: "not_kept" };

test("what stays is named in one question; without a yes nothing is taken back", async () => {
  const { calls, session } = server([lost, overlap]);
  const detail = expect.stringMatching(/^b\.ts: you changed the same lines\nlarge\.bin: .*kept\n\nMerge that/);
  const question = ["Undo the other 1 file?", { modal: true, detail }, "Undo the Rest"];
  answers.push(undefined, "Undo the Rest");
  await revert(workbench, session, undefined);
  expect(said).toEqual([["saved"], question]);
  expect(calls).toEqual([{ changeSetId: undefined, dryRun: true, rest: false }]);
  await revert(workbench, session, undefined);
  const sides = [{ uri: "b.ts: mine\n" }, { uri: "b.ts: before\n" }].map((side): unknown =>
    expect.objectContaining(side),
  );
  const merging = ["_open.mergeEditor", "b.ts: after\n", ...sides];
  expect(said.slice(2)).toEqual([["saved"], question, ["Undone: a.ts"], merging]);
  expect(calls.slice(2)).toEqual([{ changeSetId: "newest", dryRun: false, rest: true }]);
});

test("where nothing is left to take back, the user merges and the server is asked for nothing", async () => {
  const { calls, session } = server(files.map(({ path }) => ({ path, reason: "changed_since" })));
  answers.push("Merge by Hand");
  await revert(workbench, session, undefined);
  expect(said.map(([first]) => first)).toEqual([
    "saved",
    "You changed the same lines of 3 files.",
    ...files.map(() => "_open.mergeEditor"),
  ]);
  expect(calls).toHaveLength(1);
});

test("nothing is asked where all of it can be brought back, and what was typed is saved first", async () => {
  const { calls, session } = server([]);
  await revert(workbench, session, "newest");
  expect(said).toEqual([["saved"], ["Undone: a.ts"]]);
  expect(calls).toHaveLength(2);
});
