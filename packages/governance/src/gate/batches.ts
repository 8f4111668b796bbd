import type { ToolCall } from "./gate-journal.ts";

/** Consecutive calls of read-only tools form a batch; every other call is its own batch. */
export function* batches(calls: readonly ToolCall[], isRead: (name: string) => boolean): Iterable<readonly ToolCall[]> {
  let reads: ToolCall[] = [];
  for (const call of calls) {
    if (isRead(call.name)) {
      reads.push(call);
      continue;
    }
    if (reads.length > 0) yield reads;
    reads = [];
    yield [call];
  }
  if (reads.length > 0) yield reads;
}
