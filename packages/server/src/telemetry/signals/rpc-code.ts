import { Code, ConnectError } from "@connectrpc/connect";

/** As Connect writes it, e.g. `failed_precondition`. */
export function rpcCode(error: unknown): string {
  const name = Code[ConnectError.from(error).code];
  return name.replace(/(?<=[a-z])(?=[A-Z])/g, "_").toLowerCase();
}
