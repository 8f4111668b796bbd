import { asSentence } from "@gennai/protocol/as-sentence";
import { escapePattern, isGlob } from "./draft-change.ts";
import { counted, fenced, refused, type StepReport } from "./report.ts";
import { quote, type StepOf } from "./request.ts";
import { commandResult, listedLines, readPage } from "./tool-output.ts";
import { callTool, type Work } from "./tool-round.ts";

export function* findText({ text, glob }: StepOf<"find">): Work<StepReport> {
  const place = glob ?? "the workspace";
  if (text.includes("\n")) return { ok: false, text: "I can only find text within one line." };
  const where = glob === undefined ? {} : isGlob(glob) ? { glob } : { path: glob };
  const args = { pattern: escapePattern(text), ...where, output_mode: "content", "-n": true, head_limit: 50 };
  const reply = yield* callTool(`Looking for the text in ${place}.`, "Grep", args);
  if (reply.failure !== undefined) return refused(`I could not search ${place}`, reply.failure);
  const { lines, notes } = listedLines(reply.output);
  if (lines.length === 0) return { ok: true, text: `${quote(text)} does not occur in ${place}.` };
  const found = `${quote(text)} is in ${counted(lines.length, "line")} of ${place}:\n${fenced(lines)}`;
  return { ok: true, text: [found, ...notes].join("\n") };
}

export function* showFile({ path }: StepOf<"show">): Work<StepReport> {
  const reply = yield* callTool(`Reading ${path}.`, "Read", { file_path: path });
  if (reply.failure !== undefined) return refused(`I could not read ${path}`, reply.failure);
  const { text, whole } = readPage(reply.output);
  if (text === "") return { ok: true, text: `${path} is empty.` };
  const lines = text.replace(/\n$/, "").split("\n");
  const count = whole ? counted(lines.length, "line") : `more than ${lines.length} lines`;
  return { ok: true, text: `${path} (${count}):\n${fenced(lines, !whole)}` };
}

export function* listDirectory({ path }: StepOf<"list">): Work<StepReport> {
  const place = path ?? "the working directory";
  const reply = yield* callTool(`Listing ${place}.`, "LS", path === undefined ? {} : { path });
  if (reply.failure !== undefined) return refused(`I could not list ${place}`, reply.failure);
  const { lines, notes } = listedLines(reply.output);
  const subject = path ?? "The working directory";
  if (lines.length === 0) return { ok: true, text: `${subject} has no entries.` };
  return {
    ok: true,
    text: [`${subject} has ${counted(lines.length, "entry")}:\n${fenced(lines)}`, ...notes].join("\n"),
  };
}

const shownLines = 40;

export function* runCommand({ command }: StepOf<"run" | "verify">): Work<StepReport> {
  const reply = yield* callTool(`Running ${quote(command)}.`, "Bash", { command });
  const { text, exitCode, notes } = commandResult(reply.output);
  // A failure with a code says that it never ran; one without, that it failed or was ended.
  if (reply.failure !== undefined && reply.failure.code !== "")
    return refused(`${quote(command)} was not run`, reply.failure);
  const lines = text.replace(/\n+$/, "").split("\n");
  const what = lines.length > shownLines ? `The last ${shownLines} lines of its output` : "Its output";
  const output = text.trim() === "" ? "It printed nothing." : `${what}:\n${fenced(lines.slice(-shownLines))}`;
  const end = exitCode === undefined ? "ran, but its exit code is not known" : `ended with exit code ${exitCode}`;
  // Notes for the model tell it what to do; the user is told what happened.
  const told = notes.filter((note) => !note.startsWith("for the model:"));
  const sentences = told.map((note) => asSentence(`${note.charAt(0).toUpperCase()}${note.slice(1)}`));
  const ok = reply.failure === undefined && (exitCode ?? 0) === 0;
  return { ok, text: [`${quote(command)} ${end}. ${output}`, ...sentences].join("\n") };
}

export function* runInTerminal({ command }: StepOf<"terminal">): Work<StepReport> {
  const args = { command, reveal: true };
  const reply = yield* callTool(`Sending ${quote(command)} to the terminal.`, "RunInTerminal", args);
  if (reply.failure !== undefined) return refused(`${quote(command)} was not run in the terminal`, reply.failure);
  const said = reply.output.trim() === "" ? "" : ` The answer was:\n${fenced(reply.output.trim().split("\n"))}`;
  return { ok: true, text: `I handed ${quote(command)} to the terminal.${said}` };
}
