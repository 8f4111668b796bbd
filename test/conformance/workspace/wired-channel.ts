import { randomUUID } from "node:crypto";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { WorkspaceOperation } from "@gennai/agent/events/workspace-operation";
import type { ClientWorkspacePort } from "@gennai/client/connection/client-workspace-port";
import { bindRequest } from "@gennai/client/host/client-answer";
import { ClientEventSchema } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { InvokeEventSchema } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { answerFromWire } from "@gennai/server/rpc/wire/answer-from-wire";
import { requestToWire } from "@gennai/server/rpc/wire/events/event-to-wire";
import type { AnswerTo, WorkspaceChannel } from "@gennai/sessions/bridge/workspace-answer";
import type { BlobStore } from "@gennai/store/log/session-log";

/** The way from a server to a client and back, as bytes: everything but the network and the log. */
export class WiredChannel implements WorkspaceChannel {
  readonly #held: ClientWorkspacePort;
  readonly #blobs: Pick<BlobStore, "get">;
  /** Operations that went over it, oldest first. */
  readonly asked: WorkspaceOperation["type"][] = [];

  constructor(held: ClientWorkspacePort, blobs: Pick<BlobStore, "get">) {
    this.#held = held;
    this.#blobs = blobs;
  }

  async ask<Type extends WorkspaceOperation["type"]>(
    operation: Extract<WorkspaceOperation, { readonly type: Type }>,
    options: { readonly signal?: AbortSignal | undefined; readonly onOutput?: (text: string) => void } = {},
  ): Promise<AnswerTo<Type>> {
    const signal = options.signal ?? new AbortController().signal;
    signal.throwIfAborted();
    this.asked.push(operation.type);
    const common = { requestId: randomUUID(), ownerEpoch: 1, deadline: 0, clientId: "here" };
    const sent = toBinary(
      InvokeEventSchema,
      create(InvokeEventSchema, { event: requestToWire({ ...common, kind: "workspace", operation }) }),
    );
    const bound = bindRequest(
      fromBinary(InvokeEventSchema, sent),
      { workspace: this.#held },
      {
        clientId: "here",
        fetchContent: async (sha256) =>
          (await this.#blobs.get(sha256)) ?? Promise.reject(new Error("There is no such blob.")),
      },
    );
    if (bound === undefined) throw new Error("The client did not take the request.");
    const event = await bound.answer({ signal, onOutput: options.onOutput ?? (() => {}) });
    const answered = toBinary(ClientEventSchema, create(ClientEventSchema, { event }));
    const incoming = answerFromWire(fromBinary(ClientEventSchema, answered).event);
    if (incoming?.answer.kind !== "workspace") throw new Error("The client answered something else.");
    const { answer } = incoming.answer;
    if (answer.type === "failure") throw answer.failure;
    if (answer.type !== operation.type)
      throw new Error(`The client answered a ${answer.type} with a ${operation.type}.`);
    return answer as AnswerTo<Type>;
  }
}
