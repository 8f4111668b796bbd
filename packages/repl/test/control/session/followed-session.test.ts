// @vitest-environment happy-dom
import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient, createRouterTransport } from "@connectrpc/connect";
import { AgentSession } from "@gennai/client/session/agent-session";
import { AgentService } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { InvokeEventSchema } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { expect, it, vi } from "vitest";
import { FollowedSession } from "#control/session/followed-session";

const event = (seq: number) =>
  create(InvokeEventSchema, {
    seq: BigInt(seq),
    firstSeq: BigInt(seq),
    event: { case: "userMessage", value: { text: `${seq}` } },
  });

/** A session whose log had four events when it was opened; the server sends them as the test says. */
async function opened(code?: Code) {
  const steps = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const client = createClient(
    AgentService,
    createRouterTransport((router) => {
      router.service(AgentService, {
        resumeSession: () => ({ session: { sessionId: "s", workingDir: "/w", lastSeq: 4n } }),
        async *subscribe({ afterSeq }, { signal }) {
          if (afterSeq === 0n) {
            yield event(1);
            yield event(2);
            await steps[0]?.promise;
            if (code !== undefined) throw new ConnectError("No more.", code);
          }
          yield event(3);
          yield event(4);
          await steps[1]?.promise;
          yield event(5);
          await new Promise((resolve) => signal.addEventListener("abort", resolve));
        },
      });
    }),
  );
  const identity = { clientId: "c", name: "test", version: "1" };
  const session = await AgentSession.resume(client, identity, "s", { signal: new AbortController().signal });
  return { followed: new FollowedSession({ session }), goOn: (step: number) => steps[step]?.resolve() };
}

it("shows nothing of a long log before it has all of it, and then what comes", async () => {
  const { followed, goOn } = await opened();
  using _leave = followed;
  await vi.waitFor(() => expect(followed.opened.value).toBe(0.5));
  expect(followed.view.value.cells).toEqual([]);
  goOn(0);
  await vi.waitFor(() => expect(followed.opened.value).toBe(1));
  expect(followed.view.value.count.value).toBe(4);
  goOn(1);
  await vi.waitFor(() => expect(followed.view.value.count.value).toBe(5));
});

it("shows what it has when the server gives no more", async () => {
  const { followed, goOn } = await opened(Code.PermissionDenied);
  using _leave = followed;
  goOn(0);
  await vi.waitFor(() => expect(followed.following.value.state).toBe("failed"));
  expect(followed.opened.value).toBe(1);
  expect(followed.view.value.cells).toHaveLength(2);
  followed.retry();
  await vi.waitFor(() => expect(followed.view.value.count.value).toBe(4));
});
