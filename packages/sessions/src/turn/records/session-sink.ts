import type { TurnSink } from "@gennai/agent/loop/turn-sink";
import type { Session } from "../../session/session.ts";
import { createRedactingSink } from "./redacting-sink.ts";

/** The masked sink for a turn of the session's own conversation. */
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
