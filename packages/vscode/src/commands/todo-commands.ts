import * as vscode from "vscode";
import type { Command } from "./workbench.ts";

export const addTodo: Command = async (workbench) => {
  const content = await askForContent("Add Todo", "");
  if (content === undefined) return;
  await workbench.session();
  await workbench.todos.add(content);
};

export const editTodo: Command = async ({ todos }, [todo]) => {
  const found = todoOf(todo);
  const content = found === undefined ? undefined : await askForContent("Edit Todo", found.content);
  if (found !== undefined && content !== undefined) await todos.edit(found.id, { content });
};

export const removeTodo: Command = async ({ todos }, [todo]) => {
  const found = todoOf(todo);
  if (found !== undefined) await todos.remove(found.id);
};

async function askForContent(title: string, value: string): Promise<string | undefined> {
  const text = await vscode.window.showInputBox({ title, value, prompt: "What is to be done?" });
  return text === undefined || text.trim() === "" ? undefined : text.trim();
}

function todoOf(value: unknown): { readonly id: string; readonly content: string } | undefined {
  if (typeof value !== "object" || value === null || !("id" in value) || !("content" in value)) return undefined;
  const { id, content } = value;
  return typeof id === "string" && typeof content === "string" ? { id, content } : undefined;
}
