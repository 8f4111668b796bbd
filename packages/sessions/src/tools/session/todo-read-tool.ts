import type { BuiltInTool } from "@gennai/governance/tool";
import { z } from "zod";
import { type TodoList, todosText } from "./todo-list.ts";

const parameters = z.strictObject({});

/** The session's todos as a JSON list. */
export function todoReadTool(ports: { readonly todos: TodoList }): BuiltInTool<z.infer<typeof parameters>> {
  return {
    name: "TodoRead",
    description: "Returns the session's list of todos as JSON.",
    parameters,
    access: "read",
    async analyse() {
      return { statement: "Read the todos", effects: [{ type: "session" }] };
    },
    async execute() {
      return { output: todosText(ports.todos.read()) };
    },
  };
}
