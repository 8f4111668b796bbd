import { TodoStatus } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";

const marks: Partial<Record<TodoStatus, string>> = { [TodoStatus.COMPLETED]: "✓", [TodoStatus.IN_PROGRESS]: "…" };

/** The agent's list, a line each. */
export function todoLines(items: readonly { readonly status: TodoStatus; readonly content: string }[]): string[] {
  return items.map(({ status, content }) => `${marks[status] ?? "○"} ${content}`);
}
