import type { HttpListener } from "@gennai/server/http/listen/http-server";
import type { SessionManager } from "@gennai/sessions/manager/session-manager";
import type { SessionPlans } from "@gennai/sessions/plans/session-plans";
import type { Session } from "@gennai/sessions/session/session";
import { listenRina, type RinaListenerOptions } from "./rina-listener.ts";
import { rinaHandlers } from "./rina-service.ts";

export interface RinaOptions extends Pick<RinaListenerOptions, "judge" | "report"> {
  /** On 127.0.0.1; 0 takes any free one. */
  readonly port: number;
  readonly version: string;
  readonly plans: SessionPlans;
  readonly manager: SessionManager;
}

/**
 * Opens the port for clients of the RinaWarp protocol. They share one session in the server's default workspace, started by the
 * first client; its questions go to authenticated clients of that session. Rejects with `PortTakenError`.
 */
export async function openRina(options: RinaOptions): Promise<Omit<HttpListener, "renewTls">> {
  const { manager, plans, version } = options;
  let opened: Promise<Session> | undefined;
  const begin = async (): Promise<Session> => {
    const begun = await manager.start({ ...manager.services.defaultSettings, interactive: true }, "");
    // For as long as the port is open.
    manager.hold(begun.id);
    return begun;
  };
  const session = (): Promise<Session> => {
    const opening = opened ?? begin();
    opened = opening;
    // Without a workspace, say; the next request tries again.
    opening.catch(() => (opened = undefined));
    return opening;
  };
  return listenRina({ ...options, handlers: rinaHandlers({ plans, version, session }) });
}
