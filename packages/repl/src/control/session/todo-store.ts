import type { AgentClient } from "@gennai/client/connection/connection";
import { type Todo, todoFromMessage, todoToMessage } from "@gennai/protocol/model/session/todo";
import { computed, type ReadonlySignal, signal } from "@preact/signals";
import { type Problem, problemOf } from "../../look/problem.ts";

/** One change a person makes to a list. */
export type TodoEdit =
  | { readonly type: "add"; readonly id: string; readonly content: string }
  | {
      readonly type: "change";
      readonly id: string;
      readonly change: Partial<Pick<Todo, "content" | "status" | "priority">>;
    }
  | { readonly type: "remove"; readonly id: string };

/** The list after an edit; unchanged if the todo no longer exists. */
function editTodos(todos: readonly Todo[], edit: TodoEdit): readonly Todo[] {
  switch (edit.type) {
    case "add":
      // An event may have brought it before the server answered.
      if (todos.some(({ id }) => id === edit.id)) return todos;
      return [
        ...todos,
        { id: edit.id, content: edit.content, status: "pending", priority: "medium", created: "", updated: "" },
      ];
    case "change":
      return todos.map((todo) => (todo.id === edit.id ? { ...todo, ...edit.change } : todo));
    case "remove":
      return todos.filter(({ id }) => id !== edit.id);
  }
}

export interface TodoStoreOptions {
  readonly client: Pick<AgentClient, "writeTodos">;
  readonly sessionId: string;
  /** The list according to the session's events. */
  readonly todos: ReadonlySignal<readonly Todo[]>;
}

/**
 * A session's todos as a person edits them. An edit is shown at once; calls run one after the other, each on the server's newest
 * list. An edit that the server refuses disappears again.
 */
export class TodoStore implements Disposable {
  readonly #options: TodoStoreOptions;
  readonly #pending = signal<readonly TodoEdit[]>([]);
  /** The server's last answer, until the session's events include it. */
  readonly #answered = signal<{ readonly todos: readonly Todo[]; readonly after: readonly Todo[] } | undefined>(
    undefined,
  );
  readonly #over = new AbortController();
  #writing = false;

  readonly problem = signal<Problem | undefined>(undefined);
  readonly todos: ReadonlySignal<readonly Todo[]> = computed(() =>
    this.#pending.value.reduce(editTodos, this.#known.value),
  );
  readonly #known: ReadonlySignal<readonly Todo[]> = computed(() => {
    const answered = this.#answered.value;
    const told = this.#options.todos.value;
    return answered !== undefined && answered.after === told ? answered.todos : told;
  });

  constructor(options: TodoStoreOptions) {
    this.#options = options;
  }

  edit(edit: TodoEdit): void {
    this.problem.value = undefined;
    this.#pending.value = [...this.#pending.peek(), edit];
    void this.#write();
  }

  [Symbol.dispose](): void {
    this.#over.abort();
  }

  async #write(): Promise<void> {
    if (this.#writing) return;
    this.#writing = true;
    const { client, sessionId, todos } = this.#options;
    for (let edit = this.#pending.peek()[0]; edit !== undefined; edit = this.#pending.peek()[0]) {
      const after = todos.peek();
      try {
        const items = editTodos(this.#known.peek(), edit).map(todoToMessage);
        const answer = await client.writeTodos({ sessionId, items }, { signal: this.#over.signal });
        // Events may have come before the answer.
        if (todos.peek() === after) this.#answered.value = { todos: answer.items.map(todoFromMessage), after };
      } catch (error) {
        if (this.#over.signal.aborted) return;
        this.problem.value = problemOf(error, "Change todos");
      }
      this.#pending.value = this.#pending.peek().slice(1);
    }
    this.#writing = false;
  }
}
