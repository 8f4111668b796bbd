import type { DescMethod } from "@bufbuild/protobuf";
import { create } from "@bufbuild/protobuf";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import { createGrpcWebTransport } from "@connectrpc/connect-node";
import { AgentService } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { ErrorInfoSchema } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { GovernanceService } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { PlanService } from "@gennai/protocol/gen/gennai/agent/v1/plan_pb";

/** Every method of the protocol, by `Service.method`. */
export const methods: ReadonlyMap<string, DescMethod> = new Map(
  [AgentService, GovernanceService, PlanService].flatMap((service) =>
    service.methods.map((method): [string, DescMethod] => [`${service.name}.${method.localName}`, method]),
  ),
);

export interface RpcEnd {
  /** `ok`, or the error's code as it is written on the wire. */
  readonly code: string;
  readonly message: string;
  /** Of the detail. */
  readonly reason: string;
}

export function transportWith(
  baseUrl: string,
  token: string | undefined,
  nodeOptions: { readonly agent?: false } = {},
): Transport {
  return createGrpcWebTransport({
    baseUrl,
    httpVersion: "1.1",
    nodeOptions,
    interceptors: [
      (next) => (request) => {
        if (token !== undefined) request.header.set("Authorization", `Bearer ${token}`);
        return next(request);
      },
    ],
  });
}

/** Calls a method; of a stream, until its first message. */
export async function callRpc(
  transport: Transport,
  method: DescMethod,
  request: Readonly<Record<string, unknown>>,
): Promise<RpcEnd> {
  const abort = new AbortController();
  try {
    const message = create(method.input, request);
    if (method.methodKind === "unary") {
      await transport.unary({ ...method, methodKind: "unary" }, abort.signal, 20_000, undefined, message);
    } else {
      const response = await transport.stream(
        { ...method, methodKind: "server_streaming" },
        abort.signal,
        20_000,
        undefined,
        once(message),
      );
      for await (const _ of response.message) break;
    }
    return { code: "ok", message: "", reason: "" };
  } catch (cause) {
    const error = ConnectError.from(cause);
    const name = (Code[error.code] ?? "").replaceAll(/(?<=[a-z])(?=[A-Z])/g, "_").toLowerCase();
    return { code: name, message: error.rawMessage, reason: error.findDetails(ErrorInfoSchema)[0]?.code ?? "" };
  } finally {
    abort.abort();
  }
}

async function* once<Value>(value: Value): AsyncGenerator<Value> {
  yield value;
}
