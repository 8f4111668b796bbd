import { isMessage } from "@bufbuild/protobuf";
import type { Interceptor } from "@connectrpc/connect";
import { heldPlace } from "@gennai/client/connection/client-workspace-port";
import { clientWorkspaceMessage } from "@gennai/client/host/client-workspace-answer";
import { ListSessionsRequestSchema, StartSessionRequestSchema } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import type { ClientWorkspaceFacts } from "@gennai/protocol/model/session/client-workspace";

/**
 * If this window holds the folder, every session started here works on it through this window, whatever starts it, and the
 * folder's sessions are listed under its name on the server.
 * @param facts undefined while the server has the files itself
 */
export function heldInterceptor(facts: () => ClientWorkspaceFacts | undefined): Interceptor {
  return (next) => (request) => {
    const held = facts();
    if (held !== undefined && !request.stream) {
      const { message } = request;
      if (isMessage(message, StartSessionRequestSchema)) {
        message.clientWorkspace = clientWorkspaceMessage(held);
        if (message.settings !== undefined) message.settings.workingDir = "";
      } else if (isMessage(message, ListSessionsRequestSchema) && message.workingDir === held.root) {
        message.workingDir = heldPlace(held);
      }
    }
    return next(request);
  };
}
