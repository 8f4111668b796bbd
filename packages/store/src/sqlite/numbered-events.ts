import type { LoggedEvent } from "@gennai/agent/events/session-event";
import type { EventDraft } from "../log/session-log.ts";

/** Events as the log has them once they are in: in order, without a gap after `afterSeq`. */
export function numberedEvents(drafts: readonly EventDraft[], afterSeq: number): readonly LoggedEvent[] {
  return drafts.map(({ turnId, itemId, time, event }, index) => ({
    seq: afterSeq + 1 + index,
    turnId,
    itemId,
    time,
    event,
  }));
}
