import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient, createRouterTransport } from "@connectrpc/connect";
import { AgentSession } from "@gennai/client/session/agent-session";
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

async function deskOn(state: Workspace, refusals = 0) {
  const prepared: string[] = [];
  const client = createClient(
    AgentService,
    createRouterTransport((router) => {
      router.service(AgentService, {
        startSession: () => ({ sessionId: "s", workingDir: "/w" }),
        getWorkspaceState: () => state,
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
  return { store, followed, prepared, proposals, [Symbol.dispose]: () => followed[Symbol.dispose]() };
}

const open = (store: BranchStore) => vi.waitFor(() => expect(store.question.value).toBeDefined());
const never = new AbortController().signal;

it.each([
  ["on a branch of one's own", { git: GitState.READY, branch: "work", commit: "c" }],
  ["on the agent's", { git: GitState.READY, branch: "ai-agent/mend-it", commit: "c" }],
] as const)("asks nothing %s", async (_name, state) => {
  using on = await deskOn(state);
  await on.store.ready(on.followed, { task: "Mend it", signal: never });
  expect(on.prepared).toEqual([]);
});

const answers: readonly (readonly [BranchAnswer, readonly string[], number])[] = [
  ["create", ["Mend it"], 0],
  ["proposal", [], 1],
  ["look", [], 0],
];
it.each(answers)("on a protected branch, the answer %s lets a plan begin", async (answer, prepared, switched) => {
  using on = await deskOn(onMain);
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

it("gives up with the goal, and asks again for the next one", async () => {
  using on = await deskOn(onMain);
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
  const again = on.store.ready(on.followed, { task: "Mend it", signal: never });
  await open(on.store);
  on.store.answer("create");
  await again;
});
