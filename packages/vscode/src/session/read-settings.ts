import type { AgentClient } from "@gennai/client/connection/connection";
import { type ReportedSettings, settingsFromMessage } from "@gennai/protocol/model/session/session-settings";

/** What a session runs with now. Rejects with `ConnectError`. */
export async function readSessionSettings(client: AgentClient, sessionId: string): Promise<ReportedSettings> {
  const { settings } = await client.resumeSession({ sessionId }, { signal: AbortSignal.timeout(10_000) });
  return settingsFromMessage(settings);
}
