import type { Todo } from "@gennai/agent/todo";

/** The todos of a session. */
export interface TodoList {
  read(): readonly Todo[];
}
