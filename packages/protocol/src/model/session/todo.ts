import {
  type TodoItem,
  TodoPriority as TodoPriorityMessage,
  TodoStatus as TodoStatusMessage,
} from "../../gen/gennai/agent/v1/event_pb.ts";
import { EnumWords } from "../enum-words.ts";

export const todoStatusWords = new EnumWords({
  pending: TodoStatusMessage.PENDING,
  in_progress: TodoStatusMessage.IN_PROGRESS,
  completed: TodoStatusMessage.COMPLETED,
});

export type TodoStatus = (typeof todoStatusWords.words)[number];

export const todoPriorityWords = new EnumWords({
  low: TodoPriorityMessage.LOW,
  medium: TodoPriorityMessage.MEDIUM,
  high: TodoPriorityMessage.HIGH,
});

export type TodoPriority = (typeof todoPriorityWords.words)[number];

export interface Todo {
  readonly id: string;
  readonly content: string;
  readonly status: TodoStatus;
  readonly priority: TodoPriority;
  /** RFC 3339. */
  readonly created: string;
  readonly updated: string;
}

export function todoToMessage(todo: Todo) {
  return {
    ...todo,
    status: todoStatusWords.toMessage(todo.status),
    priority: todoPriorityWords.toMessage(todo.priority),
  };
}

/** What is not said, or not known, is the usual. */
export function todoFromMessage({ id, content, status, priority, created, updated }: TodoItem): Todo {
  return {
    id,
    content,
    created,
    updated,
    status: todoStatusWords.fromMessage(status) ?? "pending",
    priority: todoPriorityWords.fromMessage(priority) ?? "medium",
  };
}
