import type { TurnSink } from "@gennai/agent/loop/turn-sink";
import type { Session } from "../../session/session.ts";
import { createRedactingSink } from "./redacting-sink.ts";

/** Where a turn of the session's own conversation is written, masked. */
export function sessionSink(session: Session, turnId: string): TurnSink {
  return createRedactingSink(
    {
      emit: (event, itemId) => {
        session.writer.emit(event, { turnId, ...(itemId === undefined ? {} : { itemId }) });
      },
      settle: () => Promise.resolve(),
      flush: async () => {
        await session.writer.flush();
        await session.outputs.fill(session.state.conversation);
        session.outputs.forget();
      },
    },
    session.services.redactor,
  );
}
