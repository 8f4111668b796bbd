import type { ClientInfo } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import type { AttachedClient, ClientAbility } from "../../bridge/client-registry.ts";
import { ServiceError } from "../../service-error.ts";
import type { Session } from "../../sessions/session.ts";

const maxClientId = 128;

/**
 * Who listens. An original client says nothing of itself: in an interactive session it is taken to answer what the
 * original protocol could ask.
 */
export function clientFromWire(
  info: ClientInfo | undefined,
  { settings, state }: Pick<Session, "settings" | "state">,
): AttachedClient {
  if (info === undefined) {
    const abilities = new Set<ClientAbility>(settings.interactive ? ["file-read", "command"] : []);
    return { clientId: "", abilities, isOriginal: true };
  }
  if (info.clientId.length > maxClientId) {
    throw new ServiceError("invalid_argument", `client.client_id has at most ${maxClientId} characters.`);
  }
  const abilities = new Set<ClientAbility>();
  const { capabilities } = info;
  if (capabilities?.fileRead) abilities.add("file-read");
  if (capabilities?.executeCommand) abilities.add("command");
  if (capabilities?.applyChanges) abilities.add("apply-changes");
  if (capabilities?.confirmation) abilities.add("confirmation");
  if (capabilities?.modelCall) abilities.add("model-call");
  if (capabilities?.diagnostics) abilities.add("diagnostics");
  if (capabilities?.findSymbols) abilities.add("find-symbols");
  const workspaceId = state.clientWorkspace?.id;
  // Requests to it name it, so it must have a name.
  if (workspaceId !== undefined && info.workspaceId === workspaceId && info.clientId !== "") abilities.add("workspace");
  return { clientId: info.clientId, abilities };
}
