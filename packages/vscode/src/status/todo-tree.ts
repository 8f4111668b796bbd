import type { AgentSession } from "@gennai/client/session/agent-session";
import type { SessionFacts } from "@gennai/client/view/session-facts";
import { type Todo, todoFromMessage, todoToMessage } from "@gennai/protocol/model/session/todo";
import pLimit from "p-limit";
import * as vscode from "vscode";

/** The session that is followed, with its todos. */
interface FollowedTodos {
  readonly session: AgentSession | undefined;
  readonly facts: Pick<SessionFacts, "todos">;
}

/** The todo list of the session: changes are shown at once, and taken back if the server refuses them. */
export class TodoTree implements vscode.TreeDataProvider<Todo> {
  readonly #sessions: FollowedTodos;
  readonly #changed: () => void;
  readonly #onProblem: (error: unknown) => void;
  #items: readonly Todo[] = [];
  readonly #inOrder = pLimit(1);

  constructor(
    sessions: FollowedTodos,
    events: { readonly changed: () => void; readonly onProblem: (error: unknown) => void },
  ) {
    this.#sessions = sessions;
    this.#changed = events.changed;
    this.#onProblem = events.onProblem;
  }

  /** Shows the list as the session's events have it. */
  show(): void {
    this.#items = this.#sessions.facts.todos;
    this.#changed();
  }

  getChildren(parent?: Todo): Todo[] {
    return parent === undefined ? [...this.#items] : [];
  }

  getTreeItem(todo: Todo): vscode.TreeItem {
    const item = new vscode.TreeItem(todo.content);
    item.id = todo.id;
    item.contextValue = "todo";
    item.checkboxState =
      todo.status === "completed" ? vscode.TreeItemCheckboxState.Checked : vscode.TreeItemCheckboxState.Unchecked;
    if (todo.status === "in_progress") item.iconPath = new vscode.ThemeIcon("play-circle");
    if (todo.priority === "high") item.description = "high";
    item.tooltip = `${todo.content}${todo.status === "in_progress" ? " (in progress)" : ""}`;
    return item;
  }

  async add(content: string): Promise<void> {
    const now = new Date().toISOString();
    const times = { created: now, updated: now };
    const todo = { id: crypto.randomUUID(), content, ...times, status: "pending", priority: "medium" } as const;
    await this.#change((items) => [...items, todo]);
  }

  async edit(id: string, edit: TodoEdit): Promise<void> {
    await this.#change((items) => replaceTodo(items, id, edit));
  }

  async remove(id: string): Promise<void> {
    await this.#change((items) => items.filter((todo) => todo.id !== id));
  }

  /** @param before id of the todo that should follow it; undefined: at the end */
  async move(id: string, before: string | undefined): Promise<void> {
    await this.#change((items) => moveTodo(items, id, before));
  }

  /** One change at a time, because each applies to the list that the previous one left. */
  #change(change: (items: readonly Todo[]) => readonly Todo[]): Promise<void> {
    return this.#inOrder(() => this.#write(change));
  }

  async #write(change: (items: readonly Todo[]) => readonly Todo[]): Promise<void> {
    const { session } = this.#sessions;
    if (session === undefined) return;
    const before = this.#items;
    this.#items = change(before);
    this.#changed();
    try {
      const request = { sessionId: session.sessionId, items: this.#items.map(todoToMessage) };
      const { items } = await session.client.writeTodos(request, { signal: AbortSignal.timeout(10_000) });
      this.#items = items.map(todoFromMessage);
    } catch (error) {
      this.#items = before;
      this.#onProblem(error);
    }
    this.#changed();
  }
}

type TodoEdit = Partial<Pick<Todo, "content" | "status">>;

export function replaceTodo(items: readonly Todo[], id: string, edit: TodoEdit): readonly Todo[] {
  return items.map((todo) => (todo.id === id ? { ...todo, ...edit } : todo));
}

/** @param before id of the todo that should follow it; undefined: at the end */
export function moveTodo(items: readonly Todo[], id: string, before: string | undefined): readonly Todo[] {
  const moved = items.find((todo) => todo.id === id);
  if (moved === undefined || before === id) return items;
  const rest = items.filter((todo) => todo.id !== id);
  const place = before === undefined ? -1 : rest.findIndex((todo) => todo.id === before);
  return place === -1 ? [...rest, moved] : rest.toSpliced(place, 0, moved);
}
