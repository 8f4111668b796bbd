import { userInfo } from "node:os";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { ServiceError } from "@gennai/machine/service-error";
import type {
  CompactSessionResponse,
  DeleteSessionResponse,
  RenameSessionRequest,
  SkillSchema,
} from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import type { SessionManager } from "@gennai/sessions/manager/session-manager";
import type { Session } from "@gennai/sessions/session/session";
import { sessionSkills } from "@gennai/sessions/turn/prompt/session-skills";
import { compactConversation } from "@gennai/sessions/turn/start/compaction-turn";

const maxTitle = 200;

export async function renameSessionRpc(
  session: Session,
  { title }: Pick<RenameSessionRequest, "title">,
): Promise<{ title: string }> {
  const line = title.trim();
  if (line === "" || line.length > maxTitle || /[\p{Cc}\u2028\u2029]/u.test(line)) {
    throw new ServiceError("invalid_argument", `A title is one line of 1 to ${maxTitle} characters.`);
  }
  await session.rename(line);
  return { title: session.state.title };
}

/** @param user empty on a server with one: the account that the server runs under is named then */
export async function deleteSessionRpc(
  manager: SessionManager,
  sessionId: string,
  user: string,
): Promise<Omit<DeleteSessionResponse, "$typeName">> {
  const { events, blobs, records } = await manager.delete(sessionId, user || accountName());
  return { events, contents: blobs, ledgerRecords: records };
}

function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container's user need not have a name.
    return String(process.getuid?.() ?? "");
  }
}

export async function compactSessionRpc(session: Session): Promise<Omit<CompactSessionResponse, "$typeName">> {
  const done = await compactConversation(session);
  return {
    compacted: done !== undefined,
    tokensBefore: done?.tokensBefore ?? 0,
    tokensAfter: done?.tokensAfter ?? 0,
    droppedMessages: done?.dropped ?? 0,
    keptMessages: done?.kept ?? 0,
  };
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
