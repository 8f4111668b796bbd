import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { DropLayerRequest, KeepLayerRequest } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { dropFromLayer, keepFromLayer, listLayer } from "@gennai/sessions/layer/session-layer-acts";
import type { Session } from "@gennai/sessions/session/session";

export async function listLayerRpc(session: Session) {
  const { redactor } = session.services;
  const trees = await listLayer(session);
  return {
    trees: await Promise.all(
      trees.map(async ({ path, files, bytes, removed, sha256, command, at }) => ({
        path,
        files: BigInt(files),
        bytes: BigInt(bytes),
        removed: BigInt(removed),
        sha256,
        command: await redactor.redact(command),
        time: timestampFromMs(Date.parse(at)),
      })),
    ),
  };
}

export async function keepLayerRpc(session: Session, { paths, sha256 }: KeepLayerRequest, signal: AbortSignal) {
  const { files, ...kept } = await keepFromLayer(session, { paths, sha256, signal });
  return { ...kept, paths: [...kept.paths], reasons: [...kept.reasons], files: BigInt(files) };
}

export async function dropLayerRpc(session: Session, { paths }: DropLayerRequest) {
  return { paths: [...(await dropFromLayer(session, paths))] };
}
