import type { ServiceImpl } from "@connectrpc/connect";
import type { AgentService } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { keptTreesToMessage, layeredTreeToMessage } from "@gennai/protocol/model/session/layer";
import type { SessionManager } from "@gennai/sessions/manager/session-manager";
import { dropFromLayer, keepFromLayer, listLayer } from "@gennai/sessions/restore/session-layer-acts";

type LayerRpcs = Pick<ServiceImpl<typeof AgentService>, "listLayer" | "keepLayer" | "dropLayer">;

/** Ignored files that commands of the session created. */
export function layerRpcs(manager: SessionManager): LayerRpcs {
  const { redactor } = manager.services;
  return {
    async listLayer({ sessionId }) {
      const trees = await listLayer(await manager.get(sessionId));
      const shown = trees.map(async (tree) => ({ ...tree, command: await redactor.redact(tree.command) }));
      return { trees: (await Promise.all(shown)).map(layeredTreeToMessage) };
    },

    async keepLayer({ sessionId, paths, sha256 }, { signal }) {
      const session = await manager.get(sessionId);
      const keep = () => keepFromLayer(session, { paths, sha256, signal });
      return keptTreesToMessage(await session.acts.during("a keep", keep));
    },

    async dropLayer({ sessionId, paths }) {
      const session = await manager.get(sessionId);
      return { paths: [...(await session.acts.during("a drop", () => dropFromLayer(session, paths)))] };
    },
  };
}
