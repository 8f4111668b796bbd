import { Code, ConnectError } from "@connectrpc/connect";
import { connectGovernance } from "@gennai/client/connection/connection";
import { type EmergencyRequest, setEmergencyControl } from "@gennai/client/governance/emergency";
import { findServers } from "@gennai/server/http/discovery";
import { proveServer } from "@gennai/server/http/server-proof";

/** Milliseconds for a server to show who it is, and to end what runs. */
const proofMs = 2_000;
const answerMs = 10_000;

/**
 * Switches a control through a server of this state directory, whichever workspace it works in: they share the controls.
 * Resolves with the turns it ended; undefined when no server answers. Rejects when one refuses.
 */
export async function switchOverServer(
  stateDir: string,
  request: EmergencyRequest,
): Promise<readonly string[] | undefined> {
  const { servers } = await findServers(stateDir);
  for (const { url, token, socketPath } of servers) {
    if (token === null || socketPath !== undefined) continue;
    // Whoever sits on the port must show that it knows the token before it sees it.
    const proven = await proveServer({ url }, token, { signal: AbortSignal.timeout(proofMs) }).catch(() => false);
    if (!proven) continue;
    try {
      return await setEmergencyControl(connectGovernance({ baseUrl: url, token }), request, {
        signal: AbortSignal.timeout(answerMs),
      });
    } catch (error) {
      if (!isSilence(error)) throw error;
    }
  }
  return undefined;
}

/** The server did not answer at all, or is too old to know the call. */
function isSilence(error: unknown): boolean {
  if (!(error instanceof ConnectError)) return false;
  const silent: readonly Code[] = [
    Code.Unavailable,
    Code.Unknown,
    Code.Canceled,
    Code.DeadlineExceeded,
    Code.Unimplemented,
  ];
  return silent.includes(error.code);
}
