import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient, createRouterTransport } from "@connectrpc/connect";
import { AgentSession } from "@gennai/client/session/agent-session";
import { firstPrompts } from "@gennai/client/session/text/first-prompts";
import {
  AgentService,
  BranchChange,
  type GetWorkspaceStateResponseSchema,
  GitState,
} from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { expect, it, vi } from "vitest";
import { type BranchAnswer, BranchStore } from "#control/session/branch-store";
import { FollowedSession } from "#control/session/followed-session";

type Workspace = MessageInitShape<typeof GetWorkspaceStateResponseSchema>;

const onMain: Workspace = { git: GitState.READY, branch: "main", commit: "c", protectedBy: "main", changedFiles: 2 };

async function deskOn(state: Workspace, refusals = 0, refusesFirstCommit = false) {
  const prepared: string[] = [];
  const committed: string[] = [];
  const asked = vi.fn<() => void>();
  const client = createClient(
    AgentService,
    createRouterTransport((router) => {
      router.service(AgentService, {
        startSession: () => ({ sessionId: "s", workingDir: "/w" }),
        getWorkspaceState() {
          asked();
          return state;
        },
        makeFirstCommit({ sha256 }) {
          const plan = {
            offered: true,
            files: ["a.ts"],
            fileCount: 1,
            leftOut: [".env"],
            leftOutCount: 1,
            branch: "main",
          };
          committed.push(sha256);
          if (refusesFirstCommit) throw new ConnectError("2001 files would be in it", Code.FailedPrecondition);
          // The files became others between the list and the yes.
          if (sha256 === "first") return { ...plan, sha256: "second" };
          return sha256 === "second" ? { ...plan, sha256, commit: "c" } : { ...plan, sha256: "first" };
        },
        prepareBranch({ task }) {
          prepared.push(task);
          if (prepared.length <= refusals) throw new ConnectError("git could not create it", Code.FailedPrecondition);
          return { branch: "ai-agent/mend-it", change: BranchChange.CREATED };
        },
        // oxlint-disable-next-line require-yield
        async *subscribe(_request, { signal }) {
          await new Promise((resolve) => signal.addEventListener("abort", resolve));
        },
      });
    }),
  );
  const { signal } = new AbortController();
  const identity = { clientId: "c", name: "test", version: "1" };
  const session = await AgentSession.start(client, identity, {}, { interactive: true, signal });
  const followed = new FollowedSession({ session });
  const proposals = vi.fn<() => Promise<boolean>>(() => Promise.resolve(true));
  const store = new BranchStore(proposals);
  return { store, followed, prepared, committed, asked, proposals, [Symbol.dispose]: () => followed[Symbol.dispose]() };
}

const open = (store: BranchStore) => vi.waitFor(() => expect(store.question.value).toBeDefined());
const never = new AbortController().signal;

it("asks nothing for a first prompt that only reads, and asks before the next one where git is not ready", async () => {
  using on = await deskOn({ git: GitState.NO_REPOSITORY }, 1);
  await on.store.ready(on.followed, { task: firstPrompts[0] ?? "", signal: never });
  expect(on.store.question.value).toBeUndefined();
  const ready = on.store.ready(on.followed, { task: "Mend it", signal: never });
  await open(on.store);
  on.store.answer("look");
  await ready;
});

it("asks nothing on a protected branch: the server does with the first write", async () => {
  using on = await deskOn(onMain);
  await on.store.ready(on.followed, { task: "Mend it", signal: never });
  expect(on.prepared).toEqual([]);
});

it.each([
  ["on a branch of one's own", { git: GitState.READY, branch: "work", commit: "c" }],
  ["on the agent's", { git: GitState.READY, branch: "ai-agent/mend-it", commit: "c" }],
] as const)("asks nothing %s, and looks once", async (_name, state) => {
  using on = await deskOn(state);
  await on.store.ready(on.followed, { task: "Mend it", signal: never });
  await on.store.ready(on.followed, { task: "Mend more", signal: never });
  expect(on.asked).toHaveBeenCalledOnce();
  expect(on.prepared).toEqual([]);
});

const answers: readonly (readonly [BranchAnswer, readonly string[], number])[] = [
  ["create", ["Mend it"], 0],
  ["proposal", [], 1],
  ["look", [], 0],
];
it.each(answers)("after a refusal, the answer %s lets the next turn begin", async (answer, prepared, switched) => {
  using on = await deskOn(onMain);
  on.store.refused("s");
  const ready = on.store.ready(on.followed, { task: "Mend it", signal: never });
  await open(on.store);
  expect(on.store.question.value).toMatchObject({ wanted: "ai-agent/mend-it", changedFiles: 2, refusal: undefined });
  on.store.answer(answer);
  await ready;
  expect(on.prepared).toEqual(prepared);
  expect(on.proposals).toHaveBeenCalledTimes(switched);
  expect(on.store.question.value).toBeUndefined();
});

it("shows why the server would not, and tries again", async () => {
  using on = await deskOn(onMain, 1);
  on.store.refused("s");
  const ready = on.store.ready(on.followed, { task: "Mend it", signal: never });
  await open(on.store);
  on.store.answer("create");
  await vi.waitFor(() => expect(on.store.question.value?.refusal?.message).toBe("git could not create it"));
  on.store.answer("create");
  await ready;
  expect(on.prepared).toHaveLength(2);
});

it("without git, says at once what the server says", async () => {
  using on = await deskOn({ git: GitState.NO_REPOSITORY }, 1);
  const ready = on.store.ready(on.followed, { task: "Mend it", signal: never });
  await open(on.store);
  expect(on.store.question.value).toMatchObject({ wanted: undefined, refusal: { message: "git could not create it" } });
  on.store.answer("look");
  await ready;
});

it("gives up with the prompt, and asks again after a call was refused for its branch", async () => {
  using on = await deskOn(onMain);
  on.store.refused("s");
  const leaving = new AbortController();
  const left = on.store.ready(on.followed, { task: "Mend it", signal: leaving.signal });
  await open(on.store);
  leaving.abort();
  await expect(left).rejects.toThrow("aborted");
  expect(on.store.question.value).toBeUndefined();

  const look = on.store.ready(on.followed, { task: "Mend it", signal: never });
  await open(on.store);
  on.store.answer("look");
  await look;
  on.store.refused("s");
  const again = on.store.ready(on.followed, { task: "Mend it", signal: never });
  await open(on.store);
  on.store.answer("create");
  await again;
});

const unborn: Workspace = { git: GitState.READY, branch: "work", changedFiles: 2 };

it("makes the first commit of the list that a person said yes to, and of no other", async () => {
  using on = await deskOn(unborn);
  const { firstCommit } = on.store;
  const ready = on.store.ready(on.followed, { task: "Mend it", signal: never });
  await vi.waitFor(() => expect(firstCommit.question.value?.planned?.sha256).toBe("first"));
  firstCommit.answer(true);
  await vi.waitFor(() => expect(firstCommit.question.value?.planned?.sha256).toBe("second"));
  firstCommit.answer(true);
  await ready;
  expect(on.committed).toEqual(["", "first", "second"]);
  expect(firstCommit.question.value).toBeUndefined();
});

it("goes on without a first commit where nobody wants one", async () => {
  using on = await deskOn(unborn);
  const ready = on.store.ready(on.followed, { task: "Mend it", signal: never });
  await vi.waitFor(() => expect(on.store.firstCommit.question.value).toBeDefined());
  on.store.firstCommit.answer(false);
  await ready;
  expect(on.committed).toEqual([""]);
});

it("says why no first commit can be offered, and goes on without one", async () => {
  using on = await deskOn(unborn, 0, true);
  const { firstCommit } = on.store;
  const ready = on.store.ready(on.followed, { task: "Mend it", signal: never });
  const look = (times: number) => vi.waitFor(() => expect(on.committed).toHaveLength(times));
  await look(1);
  await vi.waitFor(() => expect(firstCommit.question.value?.refusal?.message).toContain("2001 files"));
  expect(firstCommit.question.value?.planned).toBeUndefined();
  firstCommit.answer(true);
  await look(2);
  await vi.waitFor(() => expect(firstCommit.question.value?.refusal).toBeDefined());
  firstCommit.answer(false);
  await ready;
  expect(firstCommit.question.value).toBeUndefined();
});
