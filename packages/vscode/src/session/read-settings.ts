import type { AgentClient } from "@gennai/client/connection/connection";
import { type ReportedSettings, settingsFromMessage } from "@gennai/protocol/model/session/session-settings";

/** The present settings of a session. Rejects with `ConnectError`. */
export async function readSessionSettings(client: AgentClient, sessionId: string): Promise<ReportedSettings> {
  const { settings } = await client.resumeSession({ sessionId }, { signal: AbortSignal.timeout(10_000) });
  return settingsFromMessage(settings);
}
