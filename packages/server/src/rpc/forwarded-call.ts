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
import { rpcPath } from "@gennai/protocol/rpc-services";
import type { Callers, Identity } from "@gennai/sessions/session/identity";
import * as z from "zod";
import type { ReplicaInbox, ReplicaMessage } from "../replica/inbox.ts";
import type { Scopes } from "../telemetry/signals/scopes.ts";
import { formatTraceParent, parseTraceParent } from "../telemetry/signals/trace-parent.ts";

const callerSchema = z.object({
  tenant: z.string(),
  user: z.string(),
  isAdmin: z.boolean(),
  isApprover: z.boolean().default(false),
});
const errorSchema = z.object({
  code: z.int(),
  message: z.string(),
  details: z.array(z.object({ type: z.string(), value: z.string() })),
});

/** Lets another replica answer an RPC. Throws its error, and `ServiceError` `unavailable` if it is gone. */
export async function forwardCall<Input extends DescMessage, Output extends DescMessage>(
  { inbox, callers, scopes }: { readonly inbox: ReplicaInbox; readonly callers: Callers; readonly scopes: Scopes },
  replicaId: string,
  method: DescMethodUnary<Input, Output>,
  message: MessageShape<Input>,
  within: { readonly withinMs?: number | undefined } = {},
): Promise<MessageShape<Output>> {
  const { trace } = scopes.current;
  const head = {
    method: rpcPath(method),
    caller: JSON.stringify(callers.current() ?? null),
    ...(trace === undefined ? {} : { traceparent: formatTraceParent(trace) }),
  };
  const answer = await inbox.send(replicaId, "rpc", { head, body: toBinary(method.input, message) }, within);
  if (answer.head["error"] !== undefined) throw readError(answer.head["error"]);
  return fromBinary(method.output, answer.body);
}

/** Answers forwarded RPCs by the services of this replica. */
export function answerForwarded(
  methods: readonly DescMethodUnary[],
  { local, callers, scopes }: { readonly local: Transport; readonly callers: Callers; readonly scopes: Scopes },
): (message: ReplicaMessage) => Promise<ReplicaMessage> {
  const known = new Map(methods.map((method) => [rpcPath(method), method]));
  return async ({ head, body }): Promise<ReplicaMessage> => {
    const method = known.get(head["method"] ?? "");
    try {
      if (method === undefined) throw new ConnectError("This server knows no such method.", Code.Unimplemented);
      const input = fromBinary(method.input, body);
      // The original caller counts as the caller here: this replica checks access itself.
      const caller: Identity = { ...callerSchema.parse(JSON.parse(head["caller"] ?? "")), expires: undefined };
      const trace = parseTraceParent(head["traceparent"]);
      const response = await scopes.run(trace === undefined ? {} : { trace }, () =>
        callers.run(caller, () => local.unary(method, undefined, undefined, undefined, create(method.input, input))),
      );
      return { head: {}, body: toBinary(method.output, response.message) };
    } catch (error) {
      return { head: { error: writeError(ConnectError.from(error)) }, body: new Uint8Array() };
    }
  };
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
