import type { Todo } from "@gennai/protocol/model/session/todo";

/** The todos of a session. */
export interface TodoList {
  read(): readonly Todo[];
}

/** The todos for a model, without their times. */
export function todosText(todos: readonly Todo[]): string {
  return JSON.stringify(todos.map(({ id, content, status, priority }) => ({ id, content, status, priority })));
}
