import type { BuiltInTool } from "@gennai/governance/tool";
import { ToolFailure } from "@gennai/governance/tool-error";
import { editableText } from "@gennai/machine/changes/editable-text";
import type { FileContent } from "@gennai/machine/workspace/workspace";
import { diffLines } from "@gennai/protocol/diff/line-diff";
import { z } from "zod";
import { projectNotePaths } from "../../prompt/project-notes.ts";
import { KnownFiles } from "../../session/state/known-files.ts";
import { currentContent, type FileChangePorts, type IntendedFile, intendedEdits } from "./change/file-change.ts";
import { oneFileTool } from "./one-file-tool.ts";

const files: readonly string[] = projectNotePaths;
/** Created if no notes file exists. */
const firstFile = "AGENT.md";

const parameters = z.strictObject({
  lesson: z
    .string()
    .trim()
    .min(1, "lesson must not be empty.")
    .max(2000, "lesson is longer than 2,000 characters.")
    .describe("One sentence that will help the next person or agent who works here."),
  file: z
    .string()
    .refine((name) => files.includes(name), `file must be one of ${files.join(", ")}.`)
    .optional()
    .describe("AGENTS.md, AGENT.md or CLAUDE.md; by default the first that exists."),
});

type RecordLessonArguments = z.infer<typeof parameters>;

/** Adds a lesson to the project's notes. It is a write like any other, but needs no earlier read: it only adds a line. */
export function recordLessonTool(ports: FileChangePorts): BuiltInTool<RecordLessonArguments> {
  // Only this tool's own read: the session's bases are unchanged, because the model did not see the file.
  const ownReading = new KnownFiles();
  const change = oneFileTool(
    { ...ports, knownFiles: ownReading },
    {
      name: "record_lesson",
      description: "",
      parameters: z.strictObject({ file_path: z.string(), lesson: z.string() }),
      operation: "update",
      missingHint: undefined,
      intend: ({ lesson, file_path }, before) => withLesson(before, lesson, file_path),
    },
  );
  const chosenFile = async (file: RecordLessonArguments["file"]) => {
    if (file !== undefined) return file;
    for (const each of files) {
      if ((await ports.workspace.stat(await ports.workspace.resolve(each))) !== undefined) return each;
    }
    return firstFile;
  };
  const chosen = new WeakMap<object, string>();
  const changeArguments = (args: RecordLessonArguments) => ({
    file_path: chosen.get(args) ?? args.file ?? firstFile,
    lesson: args.lesson,
  });

  return {
    name: "record_lesson",
    description: "Adds a lesson learnt in this project to its notes for agents, under the heading Lessons.",
    parameters,
    access: "change",
    async analyse(args, context) {
      chosen.set(args, await chosenFile(args.file));
      const own = changeArguments(args);
      const path = await ports.workspace.resolve(own.file_path);
      const base = ports.knownFiles.base(path.relative);
      // If the session read a file with unsaved changes, it is written through its editor, on that base.
      if (base?.source === "buffer") ownReading.observe({ path: path.relative, ...base });
      else if (path.inside) {
        const now = await currentContent(ports.workspace, path, context.signal);
        ownReading.observe({ path: path.relative, source: "disk", sha256: now?.sha256 });
      }
      const analysis = await change.analyse(own, context);
      return { ...analysis, statement: `Add a lesson to ${own.file_path}: ${args.lesson}` };
    },
    async execute(args, analysis, context) {
      const outcome = await change.execute(changeArguments(args), analysis, context);
      const changed = outcome.changes?.[0];
      const seen = changed === undefined ? undefined : ports.knownFiles.base(changed.path);
      if (changed?.operation === "create" || (seen !== undefined && seen.sha256 === changed?.beforeSha256))
        return outcome;
      // The model has not read the rest of the file, so this is no base for another change.
      return { ...outcome, observed: [] };
    },
    async verify(args, outcome, context) {
      return (
        (await change.verify?.(changeArguments(args), outcome, context)) ?? {
          state: "unverified",
          evidence: "Nothing was looked at.",
        }
      );
    },
  };
}

function withLesson(before: FileContent | undefined, lesson: string, name: string): IntendedFile {
  const old = editableText(before?.bytes ?? new Uint8Array());
  if (old === undefined) throw new ToolFailure("binary_file", `${name} is not a text file.`);
  const text = appendLesson(old.text, lesson);
  if (text === undefined) throw new ToolFailure("no_change", `${name} holds this lesson already.`);
  return intendedEdits(old, text, diffLines(old.text, text, { timeoutMs: 100 }).edits);
}

const heading = /^(#{1,6})\s+lessons\s*#*\s*$/i;

/**
 * Adds a lesson to a notes file: a bullet at the end of the section `Lessons`, which is created at the end of the file if
 * missing. Lines end with LF. Undefined if the lesson is already there.
 * @param lesson white space in it becomes single spaces, so that it stays one bullet
 */
export function appendLesson(text: string, lesson: string): string | undefined {
  const bullet = `- ${lesson.replaceAll(/\s+/g, " ").trim()}`;
  const lines = text.split("\n");
  const section = findSection(lines);
  if (section === undefined) {
    const before = text.trim() === "" ? "" : `${text.replace(/\n*$/, "")}\n\n`;
    return `${before}## Lessons\n\n${bullet}\n`;
  }
  const { start, end } = section;
  if (lines.slice(start, end).some((line) => line.trim() === bullet)) return undefined;
  let last = end;
  while (last > start && lines[last - 1]?.trim() === "") last -= 1;
  const gap = last === start ? [""] : [];
  const after = lines.slice(last);
  const rest = after.every((line) => line.trim() === "") ? [""] : after;
  return [...lines.slice(0, last), ...gap, bullet, ...rest].join("\n");
}

/** Lines between the heading and the next one of its rank; headings in code fences are text. */
function findSection(lines: readonly string[]): { readonly start: number; readonly end: number } | undefined {
  let fence: string | undefined;
  let start: number | undefined;
  let rank = 0;
  for (const [index, line] of lines.entries()) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (fence !== undefined) {
      if (mark?.startsWith(fence) === true) fence = undefined;
      continue;
    }
    if (mark !== undefined) {
      fence = mark;
      continue;
    }
    const level = /^(#{1,6})\s/.exec(line)?.[1]?.length;
    if (level === undefined) continue;
    if (start !== undefined && level <= rank) return { start, end: index };
    if (start === undefined && heading.test(line)) {
      start = index + 1;
      rank = level;
    }
  }
  return start === undefined ? undefined : { start, end: lines.length };
}
