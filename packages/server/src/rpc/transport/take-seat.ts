import type { DescMethod } from "@bufbuild/protobuf";
import { AgentService } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import type { Admission } from "../../admission/admission.ts";

/** Lets a call in, or throws what `Admission` throws. Dispose when it has ended. */
export function takeSeat(
  admission: Pick<Admission, "call" | "stream">,
  caller: Parameters<Admission["call"]>[0],
  { methodKind, name }: Pick<DescMethod, "methodKind" | "name">,
): Disposable {
  if (methodKind === "unary") return admission.call(caller);
  return admission.stream(caller, { runsTurn: name === AgentService.method.invoke.name });
}
