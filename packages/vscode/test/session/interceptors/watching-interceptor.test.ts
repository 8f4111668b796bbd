import type { DescMethod } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { AgentService } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { GovernanceService } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { PlanService } from "@gennai/protocol/gen/gennai/agent/v1/plan_pb";
import { expect, test } from "vitest";
import { watchingInterceptor } from "../../../src/session/interceptors/watching-interceptor.ts";

/** What a call of a window that watches, or does not, comes to: what is sent on, or why nothing is. */
async function called(method: DescMethod, { watches = true } = {}): Promise<unknown> {
  let sent: unknown;
  const isStream = method.methodKind !== "unary";
  const message = { sessionId: "s", client: { clientId: "c" } };
  async function* messages() {
    yield message;
  }
  const call = watchingInterceptor(() => watches)(async (request) => {
    sent = request.stream ? await Array.fromAsync(request.message) : request.message;
    return undefined as never;
  });
  const request = { method, stream: isStream, message: isStream ? messages() : message };
  await call(request as never);
  return sent;
}

const methods = [AgentService, GovernanceService, PlanService].flatMap(
  (service): readonly DescMethod[] => service.methods,
);

test("a window that watches may look and stop, and nothing else", async () => {
  const through: string[] = [];
  for (const method of methods) {
    const outcome = await called(method).then(
      () => "through",
      (error: unknown) => ConnectError.from(error).code,
    );
    if (outcome === "through") through.push(method.name);
    else expect([method.name, outcome]).toEqual([method.name, Code.FailedPrecondition]);
  }
  const byName = /^(Get|List|Trace|Read|Stop)/;
  const others = through.filter((name) => !byName.test(name));
  expect(others).toEqual([
    ...["Subscribe", "CancelTurn", "ResumeSession"],
    ...["SetEmergencyControl", "CheckPolicy", "PreviewSystemPrompt", "VerifyLedger", "AnswerApproval"],
  ]);
  // By its name such a method only looks or stops: none of them is left out.
  expect(through.filter((name) => byName.test(name))).toEqual(
    methods.map(({ name }) => name).filter((name) => byName.test(name)),
  );
});

test("a window that does not watch may do everything, and is told of as one that can answer", async () => {
  for (const method of methods) expect(await called(method, { watches: false }), method.name).toBeDefined();
  const [subscription] = (await called(AgentService.method.subscribe, { watches: false })) as readonly unknown[];
  expect(subscription).toMatchObject({ client: { clientId: "c" } });
});

test("a stream of a window that watches says nobody who could answer, also one whose messages are passed on unread", async () => {
  const { subscribe } = AgentService.method;
  for (const method of [subscribe, { ...subscribe, output: EmptySchema }])
    expect(await called(method)).toEqual([{ sessionId: "s", client: undefined }]);
});
