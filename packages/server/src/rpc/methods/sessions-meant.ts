import { ServiceError } from "@gennai/machine/service-error";
import { StopScope } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import type { SessionManager } from "@gennai/sessions/manager/session-manager";
import type { Session } from "@gennai/sessions/session/session";

/** Tells the sessions that a stop is for from others. */
export async function sessionsMeant(
  manager: SessionManager,
  scope: StopScope,
  sessionId: string,
): Promise<(session: Session) => boolean> {
  switch (scope) {
    case StopScope.SERVER:
      return () => true;
    case StopScope.SESSION: {
      const { id } = await manager.get(sessionId);
      return (session) => session.id === id;
    }
    case StopScope.WORKSPACE: {
      const { place } = (await manager.get(sessionId)).workspace;
      return (session) => session.workspace.place === place;
    }
    default:
      throw new ServiceError("invalid_argument", "scope must be SESSION, WORKSPACE or SERVER.");
  }
}
