import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError, createRouterTransport, type ServiceImpl } from "@connectrpc/connect";
import {
  AgentService,
  type ClientEvent,
  SubmitClientEventResponseSchema,
  type SubscribeRequest,
} from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { type InvokeEvent, InvokeEventSchema } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { connect } from "#connection/connection";

type Implementation = Partial<ServiceImpl<typeof AgentService>>;

/** A client of a service in memory; what `methods` leaves out is unimplemented. */
export function clientOf(methods: Implementation) {
  const transport = createRouterTransport((router) => {
    router.service(AgentService, methods);
  });
  return connect({ baseUrl: "http://in-memory", transport });
}

type EventBody = NonNullable<MessageInitShape<typeof InvokeEventSchema>["event"]>;

export function event(
  seq: number,
  body: EventBody,
  more: { firstSeq?: number; resolved?: boolean; age?: number } = {},
): InvokeEvent {
  const milliseconds = Date.now() - (more.age ?? 0);
  return create(InvokeEventSchema, {
    event: body,
    seq: BigInt(seq),
    firstSeq: BigInt(more.firstSeq ?? seq),
    turnId: "t1",
    resolved: more.resolved ?? false,
    time: { seconds: BigInt(Math.floor(milliseconds / 1000)), nanos: (milliseconds % 1000) * 1_000_000 },
  });
}

export const text = (seq: number, value = `text ${seq}`) =>
  event(seq, { case: "assistantDelta", value: { text: value } });

/** One connection: what it sends, and how it ends. */
export interface FakeStream {
  readonly events: readonly InvokeEvent[];
  readonly end: "normally" | "silently" | Code;
}

/** Plays one stream after the other, one for each Subscribe, and notes the requests. */
export class FakeStreams {
  readonly requests: SubscribeRequest[] = [];
  readonly aborted: number[] = [];
  readonly #streams: readonly FakeStream[];

  constructor(streams: readonly FakeStream[]) {
    this.#streams = streams;
  }

  readonly subscribe: NonNullable<Implementation["subscribe"]> = (request, context) =>
    this.#play(request, context.signal);

  async *#play(request: SubscribeRequest, signal: AbortSignal) {
    const index = this.requests.push(request) - 1;
    signal.addEventListener("abort", () => this.aborted.push(index));
    const stream = this.#streams[index];
    if (stream === undefined) throw new ConnectError("no more streams", Code.NotFound);
    for (const sent of stream.events) {
      yield sent;
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    if (stream.end === "silently")
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    else if (stream.end !== "normally") throw new ConnectError("broken", stream.end);
  }
}

/** Takes what clients submit; `answers` decides, in order, how each call ends. */
export class FakeInbox {
  readonly received: ClientEvent[] = [];
  readonly #answers: (Code | "OK")[];

  constructor(answers: readonly (Code | "OK")[] = []) {
    this.#answers = [...answers];
  }

  readonly submitClientEvent = (request: ClientEvent) => {
    const answer = this.#answers.shift() ?? "OK";
    if (answer !== "OK") throw new ConnectError("refused", answer);
    this.received.push(request);
    return create(SubmitClientEventResponseSchema, { status: "OK" });
  };
}
