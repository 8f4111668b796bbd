import type { BuiltInTool } from "@gennai/governance/tool";
import type { Todo } from "@gennai/protocol/model/session/todo";
import { z } from "zod";
import type { ToolFact } from "../tool-fact.ts";

const item = z.strictObject({
  id: z.string().min(1).max(100).optional().describe("Of a todo that exists."),
  content: z.string().trim().min(1, "content must not be empty.").max(2000, "content is longer than 2,000 characters."),
  status: z.enum(["pending", "in_progress", "completed"]),
  priority: z.enum(["low", "medium", "high"]).optional(),
});

const parameters = z.strictObject({
  todos: z
    .array(item)
    .max(200, "A list holds at most 200 todos.")
    .refine(
      (todos) => {
        const ids = todos.flatMap(({ id }) => (id === undefined ? [] : [id]));
        return new Set(ids).size === ids.length;
      },
      { error: "Every id may stand once only." },
    ),
});

type TodoWriteArguments = z.infer<typeof parameters>;
type TodoItem = z.infer<typeof item>;

export interface TodoWritePorts {
  readonly todos: TodoList;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** Replaces the session's todos. */
export function todoWriteTool(ports: TodoWritePorts): BuiltInTool<TodoWriteArguments> {
  return {
    name: "TodoWrite",
    description: "Replaces the session's list of todos. Keep it short and true: mark what is done as completed.",
    parameters,
    otherNames: { plan: "todos", step: "content" },
    access: "change",
    async analyse(args) {
      return { statement: `Write ${args.todos.length} todos`, effects: [{ type: "session" }] };
    },
    async execute(args) {
      const items = merged(ports.todos.read(), args.todos, new Date(ports.now()).toISOString());
      const fact: ToolFact = { type: "todos", items };
      return { output: todosText(items), facts: [fact] };
    },
  };
}

/** Todos are the same if they have the same id, or without one, the same content. */
function merged(old: readonly Todo[], items: readonly TodoItem[], time: string): readonly Todo[] {
  const byId = new Map(old.map((todo) => [todo.id, todo]));
  const taken = new Set(items.flatMap(({ id }) => (id === undefined ? [] : [id])));
  let number = 0;
  const nextId = () => {
    do number += 1;
    while (taken.has(`${number}`) || byId.has(`${number}`));
    return `${number}`;
  };
  return items.map((item) => {
    const known =
      item.id === undefined
        ? old.find((todo) => todo.content === item.content && !taken.has(todo.id))
        : byId.get(item.id);
    const id = item.id ?? known?.id ?? nextId();
    taken.add(id);
    const priority = item.priority ?? known?.priority ?? "medium";
    const same = known?.content === item.content && known.status === item.status && known.priority === priority;
    return {
      id,
      content: item.content,
      status: item.status,
      priority,
      created: known?.created ?? time,
      updated: same ? known.updated : time,
    };
  });
}

/** The todos of a session. */
export interface TodoList {
  read(): readonly Todo[];
}

/** The todos for a model, without their times. */
function todosText(todos: readonly Todo[]): string {
  return JSON.stringify(todos.map(({ id, content, status, priority }) => ({ id, content, status, priority })));
}

const noParameters = z.strictObject({});

/** The session's todos as a JSON list. */
export function todoReadTool(ports: { readonly todos: TodoList }): BuiltInTool<z.infer<typeof noParameters>> {
  return {
    name: "TodoRead",
    description: "Returns the session's list of todos as JSON.",
    parameters: noParameters,
    access: "read",
    async analyse() {
      return { statement: "Read the todos", effects: [{ type: "session" }] };
    },
    async execute() {
      return { output: todosText(ports.todos.read()) };
    },
  };
}
