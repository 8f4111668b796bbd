import { Code, ConnectError } from "@connectrpc/connect";
import { connectGovernance } from "@gennai/client/connection/connection";
import { type EmergencyRequest, setEmergencyControl } from "@gennai/client/governance/emergency";
import { provenServers } from "../../connection/proven-servers.ts";

/** Milliseconds for a server to end what runs. */
const answerMs = 10_000;

/**
 * Switches a control through a server of this state directory, no matter which workspace it works in: they share the controls.
 * Resolves with the turns it ended; undefined when no server answers. Rejects when one refuses.
 */
export async function switchOverServer(
  stateDir: string,
  request: EmergencyRequest,
): Promise<readonly string[] | undefined> {
  for await (const { url, token } of provenServers(stateDir, {})) {
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
