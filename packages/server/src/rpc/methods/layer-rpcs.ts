import type { DropLayerRequest, KeepLayerRequest } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { keptTreesToMessage, layeredTreeToMessage } from "@gennai/protocol/model/session/layer";
import { dropFromLayer, keepFromLayer, listLayer } from "@gennai/sessions/layer/session-layer-acts";
import type { Session } from "@gennai/sessions/session/session";

export async function listLayerRpc(session: Session) {
  const { redactor } = session.services;
  const trees = await listLayer(session);
  const shown = trees.map(async (tree) => ({ ...tree, command: await redactor.redact(tree.command) }));
  return { trees: (await Promise.all(shown)).map(layeredTreeToMessage) };
}

export async function keepLayerRpc(session: Session, { paths, sha256 }: KeepLayerRequest, signal: AbortSignal) {
  const keep = () => keepFromLayer(session, { paths, sha256, signal });
  return keptTreesToMessage(await session.acts.during("a keep", keep));
}

export async function dropLayerRpc(session: Session, { paths }: DropLayerRequest) {
  return { paths: [...(await session.acts.during("a drop", () => dropFromLayer(session, paths)))] };
}
