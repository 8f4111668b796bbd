import { Code, ConnectError } from "@connectrpc/connect";

/** A stable word for an error: its code, else its class. Never its message, which may quote content. */
export function errorCode(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  const code = "code" in error ? error.code : undefined;
  return typeof code === "string" && /^[A-Za-z][A-Za-z0-9_]{0,39}$/.test(code) ? code : error.name.slice(0, 40);
}

/** As Connect writes it, e.g. `failed_precondition`. */
export function rpcCode(error: unknown): string {
  const name = Code[ConnectError.from(error).code];
  return name.replace(/(?<=[a-z])(?=[A-Z])/g, "_").toLowerCase();
}
