import { Buffer } from "node:buffer";
import {
  create,
  type DescMessage,
  type DescMethodUnary,
  fromBinary,
  type MessageShape,
  toBinary,
} from "@bufbuild/protobuf";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import * as z from "zod";
import type { ReplicaInbox, ReplicaMessage } from "../replica/inbox.ts";

const errorSchema = z.object({
  code: z.int(),
  message: z.string(),
  details: z.array(z.object({ type: z.string(), value: z.string() })),
});

/** Has another replica answer an RPC. Throws what it threw, and `ServiceError` `unavailable` when it is gone. */
export async function forwardCall<Input extends DescMessage, Output extends DescMessage>(
  inbox: ReplicaInbox,
  replicaId: string,
  method: DescMethodUnary<Input, Output>,
  message: MessageShape<Input>,
): Promise<MessageShape<Output>> {
  const answer = await inbox.send(replicaId, "rpc", {
    head: { method: pathOf(method) },
    body: toBinary(method.input, message),
  });
  if (answer.head["error"] !== undefined) throw readError(answer.head["error"]);
  return fromBinary(method.output, answer.body);
}

/** Answers forwarded RPCs by the services of this replica. */
export function answerForwarded(
  methods: readonly DescMethodUnary[],
  local: Transport,
): (message: ReplicaMessage) => Promise<ReplicaMessage> {
  const known = new Map(methods.map((method) => [pathOf(method), method]));
  return async ({ head, body }): Promise<ReplicaMessage> => {
    const method = known.get(head["method"] ?? "");
    try {
      if (method === undefined) throw new ConnectError("This server knows no such method.", Code.Unimplemented);
      const input = fromBinary(method.input, body);
      const response = await local.unary(method, undefined, undefined, undefined, create(method.input, input));
      return { head: {}, body: toBinary(method.output, response.message) };
    } catch (error) {
      return { head: { error: writeError(ConnectError.from(error)) }, body: new Uint8Array() };
    }
  };
}

function pathOf(method: DescMethodUnary): string {
  return `/${method.parent.typeName}/${method.name}`;
}

function writeError(error: ConnectError): string {
  const details = error.details.flatMap((detail) =>
    "type" in detail
      ? [{ type: detail.type, value: Buffer.from(detail.value).toString("base64") }]
      : [
          {
            type: detail.desc.typeName,
            value: Buffer.from(toBinary(detail.desc, create(detail.desc, detail.value))).toString("base64"),
          },
        ],
  );
  return JSON.stringify({ code: error.code, message: error.rawMessage, details });
}

function readError(text: string): ConnectError {
  const { code, message, details } = errorSchema.parse(JSON.parse(text));
  const error = new ConnectError(message, code);
  error.details = details.map(({ type, value }) => ({ type, value: Buffer.from(value, "base64") }));
  return error;
}
