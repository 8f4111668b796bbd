import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { InvokeEventSchema, InvokeState } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { beforeEach, expect, test, vi } from "vitest";
import { plan } from "#commands/plan-commands";
import type { Workbench } from "#commands/workbench";

const { asked, errors, events } = vi.hoisted(() => ({
  asked: [] as string[],
  errors: [] as string[],
  events: [] as unknown[],
}));
vi.mock("vscode", () => ({
  ProgressLocation: { Notification: 15 },
  window: {
    showInputBox: async ({ value }: { readonly value: string }) => {
      asked.push(value);
      return asked.length === 1 ? "Mend src" : undefined;
    },
    withProgress: (_options: unknown, task: (progress: unknown, cancel: unknown) => unknown) =>
      task({}, { onCancellationRequested: () => undefined }),
    showErrorMessage: async (text: string, ...choices: string[]) => {
      errors.push(text);
      return choices.at(-1);
    },
  },
}));
vi.mock("#documents/editor-context", () => ({ editorContext: () => ({}) }));
vi.mock("@gennai/client/session/subscription", () => ({
  subscribe: async function* () {
    yield* events;
  },
}));

const workbench = {
  root: "/w",
  session: async () => ({
    sessionId: "s",
    identity: { clientId: "c", name: "test", version: "1" },
    startTurn: async () => ({ turnId: "t", afterSeq: 0n }),
  }),
  connect: async () => ({ plans: { submitPlan: async () => ({ plan: undefined, envelopeKind: "error" }) } }),
  views: { reveal: async () => undefined, ask: () => undefined },
} as unknown as Workbench;

const event = (body: MessageInitShape<typeof InvokeEventSchema>["event"]) =>
  create(InvokeEventSchema, { turnId: "t", ...(body === undefined ? {} : { event: body }) });

beforeEach(() => {
  for (const list of [asked, errors, events]) list.length = 0;
});

test.each([
  {
    name: "the turn fails",
    body: { case: "error", value: "The provider refuses the key." },
    state: InvokeState.ERROR,
    says: "No plan was written: The provider refuses the key.",
  },
  {
    name: "the model answers with an error",
    body: { case: "final", value: { text: '{"kind": "error", "payload": {"message": "There is no src."}}' } },
    state: InvokeState.COMPLETED,
    says: "No plan was written: There is no src.",
  },
] as const)("where $name, that is said, and the goal can be changed", async ({ body, state, says }) => {
  events.push(event(body), event({ case: "status", value: { state } }));
  await plan(workbench, []);
  expect(errors).toEqual([says]);
  expect(asked).toEqual(["", "Mend src"]);
});
