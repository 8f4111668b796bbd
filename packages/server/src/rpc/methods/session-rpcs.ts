import { userInfo } from "node:os";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { ServiceError } from "@gennai/machine/service-error";
import type { AgentService, SkillSchema } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import type { SessionManager } from "@gennai/sessions/manager/session-manager";
import { sessionSkills } from "@gennai/sessions/prompt/load-skills";
import type { Session } from "@gennai/sessions/session/session";
import { compactConversation } from "@gennai/sessions/turn/compaction-turn";

const maxTitle = 200;

type SessionRpcs = Pick<ServiceImpl<typeof AgentService>, "renameSession" | "deleteSession" | "compactSession">;

/** What users do with a session as a whole. */
export function sessionRpcs(manager: SessionManager): SessionRpcs {
  return {
    async renameSession({ sessionId, title }) {
      const session = await manager.get(sessionId);
      const line = title.trim();
      if (line === "" || line.length > maxTitle || /[\p{Cc}\u2028\u2029]/u.test(line)) {
        throw new ServiceError("invalid_argument", `A title is one line of 1 to ${maxTitle} characters.`);
      }
      await session.rename(line);
      return { title: session.state.title };
    },

    async deleteSession({ sessionId }) {
      // On a server with one user: the account that the server runs under.
      const user = manager.services.callers.current()?.user || accountName();
      const { events, blobs, records } = await manager.delete(sessionId, user);
      return { events, contents: blobs, ledgerRecords: records };
    },

    async compactSession({ sessionId }) {
      const done = await compactConversation(await manager.get(sessionId));
      return {
        compacted: done !== undefined,
        tokensBefore: done?.tokensBefore ?? 0,
        tokensAfter: done?.tokensAfter ?? 0,
        droppedMessages: done?.dropped ?? 0,
        keptMessages: done?.kept ?? 0,
      };
    },
  };
}

function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container's user need not have a name.
    return String(process.getuid?.() ?? "");
  }
}

/**
 * The session's skills, masked as the model is told about them. None where the project's configuration cannot be read: a turn says so, and
 * does not begin.
 */
export async function listedSkills(session: Session): Promise<MessageInitShape<typeof SkillSchema>[]> {
  const found = await sessionSkills(session).catch((error: unknown) => {
    if (error instanceof ServiceError) return undefined;
    throw error;
  });
  const { redactor } = session.services;
  return Promise.all(
    [...(found?.values() ?? [])].map(async ({ name, description, from }) => ({
      name,
      description: await redactor.redact(description),
      ofRepository: from === "repository",
    })),
  );
}
