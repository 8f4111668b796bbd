import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type { SessionHead } from "@gennai/store/log/session-log";

/** A session as lists show it. */
export function sessionToWire(head: SessionHead, runningTurnId: string | undefined) {
  return {
    sessionId: head.sessionId,
    user: head.user,
    workingDir: head.workspaceRoot,
    title: head.title,
    created: timestampFromMs(head.created),
    updated: timestampFromMs(head.updated),
    lastSeq: BigInt(head.lastSeq),
    runningTurnId: runningTurnId ?? "",
  };
}
