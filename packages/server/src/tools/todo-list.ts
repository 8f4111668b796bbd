import type { Todo } from "@gennai/agent/todo";

/** The todos of a session. */
export interface TodoList {
  read(): readonly Todo[];
  /** Puts these in place of all. */
  replace(items: readonly Todo[]): void;
}
