import { ServiceError } from "@gennai/machine/service-error";
import type { ClientInfo } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { kindsOf } from "@gennai/protocol/model/session/editor-messages";
import type { AttachedClient, ClientAbility } from "@gennai/sessions/bridge/client-registry";
import type { Session } from "@gennai/sessions/session/session";

const maxClientId = 128;

/**
 * The listening client. An original client announces no abilities: in an interactive session it is assumed to answer what the
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
  const abilities = new Set<ClientAbility>(kindsOf(info.capabilities));
  if (info.capabilities?.confirmation) abilities.add("confirmation");
  const workspaceId = state.clientWorkspace?.id;
  // Requests to it name it, so it must have a name.
  if (workspaceId !== undefined && info.workspaceId === workspaceId && info.clientId !== "") abilities.add("workspace");
  return { clientId: info.clientId, abilities };
}
