import type { WorkspacePath } from "@gennai/governance/effect";
import type { ArgumentsForm, BuiltInTool } from "@gennai/governance/tool";
import { ToolFailure } from "@gennai/governance/tool-error";
import type { FileContent } from "@gennai/machine/workspace/workspace";
import type { ToolName } from "@gennai/protocol/built-in-tools";
import type { ZodType } from "zod";
import { filePathNames } from "../other-names.ts";
import { pathName } from "../path-name.ts";
import type { FittedEdit } from "./change/edit-text.ts";
import { bufferContent, verifyInEditor } from "./change/editor-change.ts";
import {
  currentContent,
  type FileChangePorts,
  type IntendedFile,
  notFound,
  PlannedChanges,
} from "./change/file-change.ts";
import { staleFileDetail } from "./change/stale-file-detail.ts";

/** A tool that changes one file, defined by the change to the file's content. */
export interface OneFileChange<Args> {
  readonly name: ToolName;
  readonly description: string;
  readonly parameters: ZodType<Args>;
  /** Other names of arguments, besides the path's. */
  readonly otherNames?: Readonly<Record<string, string>>;
  readonly otherForms?: readonly ArgumentsForm<Args>[];
  /** Operation on an existing file. */
  readonly operation: "update" | "delete";
  /** Hint if the file is missing; undefined: the tool creates it. */
  readonly missingHint: string | undefined;
  /**
   * Throws `ToolFailure` if it is impossible.
   * @param before undefined if the file is missing; never with a `missingHint`
   * @param name of the file, for messages
   */
  intend(args: Args, before: FileContent | undefined, name: string): IntendedFile;
  /** The arguments as `intend` applied them, if edits had to be fitted. */
  fit?(args: Args, fitted: readonly FittedEdit[]): Args;
}

export function oneFileTool<Args extends { readonly file_path: string }>(
  ports: FileChangePorts,
  change: OneFileChange<Args>,
): BuiltInTool<Args> {
  const plans = new PlannedChanges(ports);
  const intend = (args: Args, before: FileContent | undefined, path: WorkspacePath): IntendedFile => {
    const intended = change.intend(args, before, pathName(path));
    const byNumber = intended.type === "text" && intended.byText !== undefined;
    if (byNumber && !hasLineNumbers(ports, path, before)) throw staleLines(pathName(path));
    return intended;
  };
  return {
    name: change.name,
    description: change.description,
    parameters: change.parameters,
    otherNames: { ...filePathNames, ...change.otherNames },
    ...(change.otherForms === undefined ? {} : { otherForms: change.otherForms }),
    access: "change",

    async analyse(args, { signal }) {
      const path = await ports.workspace.resolve(args.file_path);
      const name = pathName(path);
      if (!path.inside) {
        return { statement: `${change.name} ${name}`, effects: [plans.planOutside(change.operation, path)] };
      }
      // For a file with unsaved changes, the editor's text counts, not the disk's.
      const inEditor =
        change.operation === "update" &&
        ports.knownFiles.base(path.relative)?.source === "buffer" &&
        ports.editor.can("apply-changes") &&
        ports.editor.can("file-read");
      const before = inEditor
        ? await bufferContent(ports.editor, path, signal)
        : await currentContent(ports.workspace, path, signal);
      if (before === undefined && change.missingHint !== undefined) throw notFound(path, change.missingHint);
      const isSeen = plans.isSeen(path, before);
      try {
        const intended = intend(args, before, path);
        const effect = plans.plan(path, before, intended, inEditor);
        const statement = `${before === undefined ? "Create" : change.name} ${name}`;
        const { byText, fitted } = intended.type === "text" && isSeen ? intended : {};
        const inWords = fitted === undefined ? byText : change.fit?.(args, fitted);
        return { statement, effects: [effect], ...(inWords === undefined ? {} : { args: inWords }) };
      } catch (error) {
        if (!(error instanceof ToolFailure) || before === undefined || isSeen) throw error;
        const effect = plans.planFailure(change.operation, path, before.sha256, error);
        return { statement: `${change.name} ${name}`, effects: [effect] };
      }
    },

    execute: plans.execute,

    async explainRefusal(args, analysis, { code }, { signal }) {
      const write = analysis.effects.find((effect) => effect.type === "write");
      if (code !== "stale_file" || write === undefined) return undefined;
      return staleFileDetail(ports, write, (base) => intend(args, base, write.path), signal);
    },

    async verify(args, outcome, context) {
      const [observed] = outcome.observed ?? [];
      if (observed?.source === "buffer") {
        const written = outcome.changes?.[0]?.afterSha256;
        return verifyInEditor(ports.editor, await ports.workspace.resolve(args.file_path), written, context.signal);
      }
      return plans.verify(args, outcome, context);
    },
  };
}

/** Whether the model saw this content with line numbers: its own edits since have moved them. */
function hasLineNumbers({ knownFiles }: FileChangePorts, path: WorkspacePath, content: FileContent | undefined) {
  return knownFiles.hasLineNumbers(path.relative) && knownFiles.base(path.relative)?.sha256 === content?.sha256;
}

function staleLines(name: string): ToolFailure {
  return new ToolFailure(
    "stale_lines",
    `${name} was not read since it changed, so its lines may have other numbers; nothing was changed.`,
    { hint: "Read it and use the numbers that it shows, or say by old_string which text is meant.", retryable: true },
  );
}
