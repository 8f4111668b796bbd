import { create } from "@bufbuild/protobuf";
import type { AgentSession } from "@gennai/client/session/agent-session";
import type { SessionFacts } from "@gennai/client/view/session-facts";
import { type TodoItem, TodoItemSchema, TodoPriority, TodoStatus } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { todoToMessage } from "@gennai/protocol/model/session/todo";
import pLimit from "p-limit";
import * as vscode from "vscode";

/** The session that is followed, with its todos. */
interface FollowedTodos {
  readonly session: AgentSession | undefined;
  readonly facts: Pick<SessionFacts, "todos">;
}

/** The todo list of the session: changes are shown at once, and taken back if the server refuses them. */
export class TodoTree implements vscode.TreeDataProvider<TodoItem> {
  readonly #sessions: FollowedTodos;
  readonly #changed: () => void;
  readonly #onProblem: (error: unknown) => void;
  #items: readonly TodoItem[] = [];
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
    this.#items = this.#sessions.facts.todos.map((todo) => create(TodoItemSchema, todoToMessage(todo)));
    this.#changed();
  }

  getChildren(parent?: TodoItem): TodoItem[] {
    return parent === undefined ? [...this.#items] : [];
  }

  getTreeItem(todo: TodoItem): vscode.TreeItem {
    const item = new vscode.TreeItem(todo.content);
    item.id = todo.id;
    item.contextValue = "todo";
    item.checkboxState =
      todo.status === TodoStatus.COMPLETED
        ? vscode.TreeItemCheckboxState.Checked
        : vscode.TreeItemCheckboxState.Unchecked;
    if (todo.status === TodoStatus.IN_PROGRESS) item.iconPath = new vscode.ThemeIcon("play-circle");
    if (todo.priority === TodoPriority.HIGH) item.description = "high";
    item.tooltip = `${todo.content}${todo.status === TodoStatus.IN_PROGRESS ? " (in progress)" : ""}`;
    return item;
  }

  async add(content: string): Promise<void> {
    const now = new Date().toISOString();
    const todo = create(TodoItemSchema, {
      id: crypto.randomUUID(),
      content,
      created: now,
      updated: now,
      status: TodoStatus.PENDING,
      priority: TodoPriority.MEDIUM,
    });
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
  #change(change: (items: readonly TodoItem[]) => readonly TodoItem[]): Promise<void> {
    return this.#inOrder(() => this.#write(change));
  }

  async #write(change: (items: readonly TodoItem[]) => readonly TodoItem[]): Promise<void> {
    const { session } = this.#sessions;
    if (session === undefined) return;
    const before = this.#items;
    this.#items = change(before);
    this.#changed();
    try {
      const request = { sessionId: session.sessionId, items: [...this.#items] };
      this.#items = (await session.client.writeTodos(request, { signal: AbortSignal.timeout(10_000) })).items;
    } catch (error) {
      this.#items = before;
      this.#onProblem(error);
    }
    this.#changed();
  }
}

interface TodoEdit {
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
