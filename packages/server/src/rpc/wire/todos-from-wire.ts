import { randomUUID } from "node:crypto";
import { ServiceError } from "@gennai/machine/service-error";
import { type TodoItem, TodoPriority, TodoStatus } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { type Todo, todoPriorityWords, todoStatusWords } from "@gennai/protocol/model/session/todo";

const maxTodos = 500;
const maxContent = 10_000;

/** A whole list from a client. Ids and times that are missing are made; unset status and priority mean the usual ones. */
export function todosFromWire(items: readonly TodoItem[], known: readonly Todo[], now: number): readonly Todo[] {
  if (items.length > maxTodos) throw new ServiceError("invalid_argument", `At most ${maxTodos} todos fit in a list.`);
  const time = new Date(now).toISOString();
  const seen = new Set<string>();
  return items.map((item) => {
    if (item.content.trim() === "" || item.content.length > maxContent) {
      throw new ServiceError("invalid_argument", `A todo's content has 1 to ${maxContent} characters.`);
    }
    const id = item.id === "" ? randomUUID() : item.id;
    if (id.length > 128 || seen.has(id)) {
      throw new ServiceError("invalid_argument", "A todo's id has at most 128 characters and stands once in the list.");
    }
    seen.add(id);
    const before = known.find((todo) => todo.id === id);
    const todo = {
      id,
      content: item.content,
      status:
        item.status === TodoStatus.UNSPECIFIED
          ? ("pending" as const)
          : todoStatusWords.checkedFromMessage(item.status, "items[].status"),
      priority:
        item.priority === TodoPriority.UNSPECIFIED
          ? ("medium" as const)
          : todoPriorityWords.checkedFromMessage(item.priority, "items[].priority"),
      created: before?.created ?? time,
    };
    const same =
      before !== undefined &&
      before.content === todo.content &&
      before.status === todo.status &&
      before.priority === todo.priority;
    return { ...todo, updated: same ? before.updated : time };
  });
}
