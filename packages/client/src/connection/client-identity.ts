import { create } from "@bufbuild/protobuf";
import { type ClientInfo, ClientInfoSchema } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { capabilitiesOf } from "@gennai/protocol/model/session/editor-messages";
import type { Editor } from "./editor.ts";

/** Who is attached to a session. */
export interface ClientIdentity {
  /** The client's own, the same over reconnections. */
  readonly clientId: string;
  /** Shown to people, e.g. `gennai-cli`. */
  readonly name: string;
  readonly version: string;
  /** Answers requests; without one the client only watches. */
  readonly editor?: Editor;
}

export function clientInfoMessage(identity: ClientIdentity): ClientInfo {
  const { editor = {} } = identity;
  return create(ClientInfoSchema, {
    clientId: identity.clientId,
    name: identity.name,
    version: identity.version,
    workspaceId: editor.workspace?.facts.id ?? "",
    capabilities: { ...capabilitiesOf(editor), confirmation: editor.confirm !== undefined },
  });
}
