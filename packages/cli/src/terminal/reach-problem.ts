import type { ConnectError } from "@connectrpc/connect";
import { rootReason } from "@gennai/client/connection/root-reason";

/** Why a server could not be reached, or what it answered. */
export function reachProblem(error: ConnectError): string {
  const reason = rootReason(error.cause);
  return reason === "" || reason === error.rawMessage ? error.rawMessage : `${error.rawMessage}: ${reason}`;
}
