import { create } from "@bufbuild/protobuf";
import { type ClientInfo, ClientInfoSchema } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { abilitiesOf, type Editor } from "../bridge/editor.ts";

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
  const abilities = abilitiesOf(identity.editor ?? {});
  return create(ClientInfoSchema, {
    clientId: identity.clientId,
    name: identity.name,
    version: identity.version,
    workspaceId: identity.editor?.workspace?.facts.id ?? "",
    capabilities: {
      fileRead: abilities.has("readFile"),
      executeCommand: abilities.has("runCommand"),
      applyChanges: abilities.has("applyChanges"),
      confirmation: abilities.has("confirm"),
      modelCall: abilities.has("callModel"),
      diagnostics: abilities.has("listDiagnostics"),
      findSymbols: abilities.has("findSymbols"),
    },
  });
}
