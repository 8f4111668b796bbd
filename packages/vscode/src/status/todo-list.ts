import type { TodoItem, TodoStatus } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";

export interface TodoEdit {
  readonly content?: string;
  readonly status?: TodoStatus;
}

export function replaceTodo(items: readonly TodoItem[], id: string, edit: TodoEdit): readonly TodoItem[] {
  return items.map((todo) => (todo.id === id ? { ...todo, ...edit } : todo));
}

/** @param before id of the todo that should follow it; undefined: at the end */
export function moveTodo(items: readonly TodoItem[], id: string, before: string | undefined): readonly TodoItem[] {
  const moved = items.find((todo) => todo.id === id);
  if (moved === undefined || before === id) return items;
  const rest = items.filter((todo) => todo.id !== id);
  const place = before === undefined ? -1 : rest.findIndex((todo) => todo.id === before);
  return place === -1 ? [...rest, moved] : rest.toSpliced(place, 0, moved);
}
