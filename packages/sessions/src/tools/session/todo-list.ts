import type { Todo } from "@gennai/protocol/model/session/todo";

/** The todos of a session. */
export interface TodoList {
  read(): readonly Todo[];
}

/** As a model reads them: it has no use for when each was written. */
export function todosText(todos: readonly Todo[]): string {
  return JSON.stringify(todos.map(({ id, content, status, priority }) => ({ id, content, status, priority })));
}
