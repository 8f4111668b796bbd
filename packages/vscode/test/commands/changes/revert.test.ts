import type { AgentSession } from "@gennai/client/session/agent-session";
import { beforeEach, expect, test, vi } from "vitest";
import { revert } from "#commands/changes/revert";
import type { Workbench } from "#workbench";

const { said, answers } = vi.hoisted(() => ({ said: [] as unknown[][], answers: [] as (string | undefined)[] }));
vi.mock("vscode", () => ({
  window: {
    showWarningMessage: async (...words: readonly unknown[]) => {
      said.push([...words]);
      return answers.shift();
    },
    showInformationMessage: async (...words: readonly unknown[]) => void said.push([...words]),
  },
}));

/** The server's calls, of which it could not bring back `lost`. */
function server(lost: readonly string[]) {
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
    return {
      changeSetId: "newest",
      files: [{ path: "a.ts" }],
      skipped: lost.map((path) => ({ path, reason: "not_kept" })),
      refs: [],
    };
  };
  return { calls, session: { undo } as unknown as AgentSession };
}

const inEditor = vi.fn<() => Promise<readonly { path: string }[]>>(async () => [{ path: "open.ts" }]);
const workbench = { changeSets: { has: (id: string) => id === "editor's", revert: inEditor } } as unknown as Workbench;

beforeEach(() => {
  said.length = answers.length = 0;
  inEditor.mockClear();
});

test("what could not be brought back is named in a question first; without a yes nothing is taken back", async () => {
  const { calls, session } = server(["large.bin", "b.db"]);
  const question = [
    "Take the rest back?",
    { modal: true, detail: expect.stringMatching(/^large\.bin: .*\nb\.db: .*kept$/) },
    "Undo",
  ];
  answers.push(undefined, "Undo");
  await revert(workbench, session, undefined);
  expect(said).toEqual([question]);
  expect(calls).toEqual([{ changeSetId: undefined, dryRun: true, rest: false }]);
  await revert(workbench, session, undefined);
  expect(said.slice(1)).toEqual([question, ["Taken back: a.ts"]]);
  expect(calls.slice(2)).toEqual([{ changeSetId: "newest", dryRun: false, rest: true }]);
});

test.each([
  ["all of it can be brought back", "server's", ["a.ts"], 2],
  ["this window applied it", "editor's", ["open.ts"], 0],
])("nothing is asked where %s", async (_name, changeSetId, files, asked) => {
  const { calls, session } = server([]);
  await revert(workbench, session, changeSetId);
  expect(said).toEqual([[`Taken back: ${files.join(", ")}`]]);
  expect(calls).toHaveLength(asked);
  expect(inEditor).toHaveBeenCalledTimes(asked === 0 ? 1 : 0);
});
