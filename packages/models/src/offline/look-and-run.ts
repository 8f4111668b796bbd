import { asSentence } from "@gennai/protocol/as-sentence";
import { z } from "zod";
import { bullets, counted, refused } from "./change-files.ts";
import { quote, type Step } from "./request/request.ts";
import { escapePattern, isGlob } from "./rounds/find-files.ts";
import { commandResult, describeFailure, listedLines, parseJson, readPage } from "./rounds/tool-replies.ts";
import { callTool, type StepReport, type Work } from "./rounds/tool-round.ts";

type StepOf<Kind extends Step["kind"]> = Extract<Step, { readonly kind: Kind }>;

const shownLines = 40;
const searchLimit = 50;

const todoSchema = z.looseObject({
  id: z.string().optional(),
  content: z.string(),
  status: z.string(),
  priority: z.string().optional(),
});
const todosSchema = z.union([
  z.array(todoSchema),
  z.object({ todos: z.array(todoSchema) }).transform((value) => value.todos),
  z.object({ items: z.array(todoSchema) }).transform((value) => value.items),
]);

export function* findText({ text, glob }: StepOf<"find">): Work<StepReport> {
  const place = glob === undefined ? "the workspace" : glob;
  if (text.includes("\n")) return { ok: false, text: "I can only find text within one line." };
  const where = glob === undefined ? {} : isGlob(glob) ? { glob } : { path: glob };
  const args = { pattern: escapePattern(text), ...where, output_mode: "content", "-n": true, head_limit: searchLimit };
  const reply = yield* callTool(`Looking for the text in ${place}.`, "Grep", args);
  if (reply.failure !== undefined) return refused(`I could not search ${place}`, reply.failure);
  const { lines, notes } = listedLines(reply.output);
  const matches = lines.filter((line) => line !== "--");
  if (matches.length === 0) return { ok: true, text: `${quote(text)} does not occur in ${place}.` };
  const atLeast = matches.length >= searchLimit ? "at least " : "";
  const more = notes.length === 0 ? "" : `\n${notes.join(" ")}`;
  return {
    ok: true,
    text: `${quote(text)} is in ${atLeast}${counted(matches.length, "line")} of ${place}:\n${fenced(matches)}${more}`,
  };
}

export function* showFile({ path }: StepOf<"show">): Work<StepReport> {
  const reply = yield* callTool(`Reading ${path}.`, "Read", { file_path: path });
  if (reply.failure !== undefined) return refused(`I could not read ${path}`, reply.failure);
  const page = readPage(reply.output);
  if (page.lines.length === 0) return { ok: true, text: `${path} is empty.` };
  const count =
    page.nextOffset === undefined ? counted(page.lines.length, "line") : `more than ${page.lines.length} lines`;
  return { ok: true, text: `${path} (${count}):\n${fenced(page.lines, page.nextOffset !== undefined)}` };
}

export function* listDirectory({ path }: StepOf<"list">): Work<StepReport> {
  const place = path ?? "the working directory";
  const reply = yield* callTool(`Listing ${place}.`, "LS", path === undefined ? {} : { path });
  if (reply.failure !== undefined) return refused(`I could not list ${place}`, reply.failure);
  const { lines, notes } = listedLines(reply.output);
  const subject = path ?? "The working directory";
  if (lines.length === 0) return { ok: true, text: `${subject} has no entries.` };
  const more = notes.length === 0 ? "" : `\n${notes.join(" ")}`;
  return {
    ok: true,
    text: `${subject} has ${lines.length === 1 ? "1 entry" : `${lines.length} entries`}:\n${fenced(lines)}${more}`,
  };
}

export function* runCommand({ command }: StepOf<"run">): Work<StepReport> {
  const reply = yield* callTool(`Running ${quote(command)}.`, "Bash", { command });
  const { text, exitCode, notes } = commandResult(reply.output);
  // Without an exit code, a coded failure says that it never ran; a failure without one, that it was ended.
  if (reply.failure !== undefined && reply.failure.code !== "")
    return refused(`${quote(command)} was not run`, reply.failure);
  const lines = text.replace(/\n+$/, "").split("\n");
  const shown = lines.slice(-shownLines);
  const output =
    text.trim() === ""
      ? "It printed nothing."
      : `${shown.length < lines.length ? `The last ${shown.length} lines of its output` : "Its output"}:\n${fenced(shown)}`;
  const end = exitCode === undefined ? "ran, but its exit code is not known" : `ended with exit code ${exitCode}`;
  return {
    ok: reply.failure === undefined && (exitCode === undefined || exitCode === 0),
    text: [`${quote(command)} ${end}. ${output}`, ...notes.filter((note) => !isForModel(note)).map(told)].join("\n"),
  };
}

/** True for a note meant for the model only: the user is told what happened. */
function isForModel(note: string): boolean {
  return note.startsWith("for the model:");
}

function told(note: string): string {
  return asSentence(`${note.charAt(0).toUpperCase()}${note.slice(1)}`);
}

export function* runInTerminal({ command }: StepOf<"run">): Work<StepReport> {
  const reply = yield* callTool(`Sending ${quote(command)} to the terminal.`, "RunInTerminal", {
    command,
    reveal: true,
  });
  if (reply.failure !== undefined) return refused(`${quote(command)} was not run in the terminal`, reply.failure);
  const said = reply.output.trim() === "" ? "" : ` The answer was:\n${fenced(reply.output.trim().split("\n"))}`;
  return { ok: true, text: `I handed ${quote(command)} to the terminal.${said}` };
}

export function* addTodo({ text }: StepOf<"add-todo">): Work<StepReport> {
  const before = yield* callTool("Reading the todo list first.", "TodoRead", {});
  if (before.failure !== undefined) return refused("I could not read the todo list", before.failure);
  const todos = todosSchema.safeParse(parseJson(before.output));
  if (!todos.success) return { ok: false, text: "I could not make sense of the todo list, so I left it alone." };
  const kept = todos.data.map(({ id, content, status, priority }) => ({
    ...(id === undefined ? {} : { id }),
    content,
    status,
    priority: priority ?? "medium",
  }));
  const reply = yield* callTool("Adding the todo.", "TodoWrite", {
    todos: [...kept, { content: text, status: "pending", priority: "medium" }],
  });
  if (reply.failure !== undefined) return refused("I could not change the todo list", reply.failure);
  return { ok: true, text: `Added the todo ${quote(text)}; the list had ${counted(kept.length, "item")} before.` };
}

export function* showTodos(): Work<StepReport> {
  const reply = yield* callTool("Reading the todo list.", "TodoRead", {});
  if (reply.failure !== undefined)
    return { ok: false, text: `I could not read the todo list: ${describeFailure(reply.failure)}` };
  const todos = todosSchema.safeParse(parseJson(reply.output));
  if (!todos.success) return { ok: true, text: `The todo list:\n${fenced(reply.output.split("\n"))}` };
  if (todos.data.length === 0) return { ok: true, text: "The todo list is empty." };
  const lines = todos.data.map((todo) => `${todo.content} (${todo.status.replace("_", " ")})`);
  return { ok: true, text: `${counted(lines.length, "todo")}:\n${bullets(lines)}` };
}

/** At most forty lines in a block whose fence cannot be closed by what is inside. */
function fenced(lines: readonly string[], more = false): string {
  const shown = lines.slice(0, shownLines);
  const longest =
    shown
      .join("\n")
      .match(/`{3,}/g)
      ?.reduce((length, run) => Math.max(length, run.length), 2) ?? 2;
  const fence = "`".repeat(longest + 1);
  const rest = lines.length - shown.length;
  const note = rest > 0 ? `\n… and ${rest}${more ? " or more" : ""} more lines` : more ? "\n… and more lines" : "";
  return `${fence}\n${shown.join("\n")}\n${fence}${note}`;
}
