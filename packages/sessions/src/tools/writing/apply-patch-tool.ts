import type { FileWrite, WorkspacePath } from "@gennai/governance/effect";
import type { BuiltInTool } from "@gennai/governance/tool";
import { ToolFailure } from "@gennai/governance/tool-error";
import { editableText, fileBytes, fileText } from "@gennai/machine/changes/editable-text";
import { ComparingTime } from "@gennai/machine/changes/fit/comparing-time";
import { type PatchedFile, parsePatch } from "@gennai/machine/changes/parse-patch";
import { patchText } from "@gennai/machine/changes/patch-text";
import { decodeText } from "@gennai/machine/workspace/files/text-file";
import type { FileContent } from "@gennai/machine/workspace/workspace";
import { diffLines } from "@gennai/protocol/diff/line-diff";
import { z } from "zod";
import { pathName } from "../path-name.ts";
import { maxFileBytes } from "../text-limits.ts";
import {
  currentContent,
  type FileChangePorts,
  type IntendedFile,
  type IntendedText,
  intendedEdits,
  notFound,
  PlannedChanges,
} from "./change/file-change.ts";
import { refuseMaskedText } from "./change/masked-text.ts";
import { staleFileDetail } from "./change/stale-file-detail.ts";
import { refuseDuplicate } from "./propose-changes-tool.ts";
import { intendedText } from "./write-tool.ts";

/** GPT-4.1, GPT-5 and later, gpt-oss, o3, o4 and Codex: OpenAI trained them on this format. */
const trainedModels = /(?:^|\/)(?:gpt-(?:4\.1|[5-9]|oss)|o[34](?:-|$)|codex)/i;

const parameters = z.strictObject({
  input: z
    .string()
    .min(1, "input must not be empty.")
    .max(maxFileBytes, "input is larger than 20 MiB.")
    .describe('The patch, from "*** Begin Patch" to "*** End Patch".'),
});

type Patch = z.infer<typeof parameters>;

/** Several files in the patch format of OpenAI's models: all of them change, or none. */
export function applyPatchTool(ports: FileChangePorts): BuiltInTool<Patch> {
  const plans = new PlannedChanges(ports);
  const hunksOf = new WeakMap<FileWrite, UpdatedFile>();

  /**
   * One effect; a failure is held back if it could reveal the content of an unread file. @param told whose text it could reveal
   */
  const planned = (
    path: WorkspacePath,
    before: FileContent | undefined,
    intend: () => IntendedFile,
    told: { readonly path: WorkspacePath; readonly content: FileContent | undefined } = { path, content: before },
  ): FileWrite => {
    try {
      return plans.plan(path, before, intend());
    } catch (error) {
      if (!(error instanceof ToolFailure) || plans.isSeen(told.path, told.content)) throw error;
      return plans.planFailure(before === undefined ? "create" : "update", path, before?.sha256, error);
    }
  };

  const effectsOf = async (
    file: PatchedFile,
    paths: Paths,
    time: ComparingTime,
    signal: AbortSignal,
  ): Promise<readonly FileWrite[]> => {
    const { path, moveTo } = paths;
    const outside = [path, ...(moveTo === undefined ? [] : [moveTo])].find((each) => !each.inside);
    if (outside !== undefined) {
      const operation = file.operation === "add" ? "create" : file.operation;
      return [plans.planOutside(operation, outside.inside ? path : outside)];
    }
    const name = pathName(path);
    if (ports.knownFiles.base(path.relative)?.source === "buffer") throw unsaved(name);
    const before = await currentContent(ports.workspace, path, signal);
    if (file.operation === "add") {
      if (before !== undefined) throw exists(name);
      return [planned(path, undefined, () => intendedText(file.content, undefined))];
    }
    if (before === undefined) throw notFound(path, "Look with LS or Glob what is there; nothing was changed.");
    if (file.operation === "delete") return [planned(path, before, () => ({ type: "gone" }))];
    if (moveTo === undefined) {
      const effect = planned(path, before, () => patched(file, before, name, time));
      hunksOf.set(effect, file);
      return [effect];
    }
    if ((await ports.workspace.stat(moveTo)) !== undefined) throw exists(pathName(moveTo));
    const mode = ((await ports.workspace.stat(path))?.mode ?? 0o644) & 0o777;
    const moved = planned(moveTo, undefined, () => movedFile(file, { before, mode, name }, time), {
      path,
      content: before,
    });
    return [moved, plans.plan(path, before, { type: "gone" })];
  };

  return {
    name: "apply_patch",
    description:
      "Adds, updates, moves and deletes files by a patch; all of them change, or none. `*** Add File: PATH` is followed by lines with " +
      "+, `*** Delete File: PATH` by nothing, `*** Update File: PATH` by an optional `*** Move to: PATH` and hunks. A hunk begins with " +
      "`@@`, or `@@ LINE` with the line of the class or function it is in; its lines begin with a space, - or +. Give three lines of " +
      "context around a change. Paths are relative. Read a file before you update it.",
    parameters,
    otherNames: { patch: "input", patchText: "input", patch_text: "input", diff: "input" },
    shownTo: trainedModels,
    access: "change",

    async analyse({ input }, { signal }) {
      const effects: FileWrite[] = [];
      const seen = new Map<string, string>();
      const time = new ComparingTime();
      for (const file of parsePatch(input)) {
        const path = await ports.workspace.resolve(file.path);
        refuseDuplicate(seen, path);
        const target = file.operation === "update" ? file.moveTo : undefined;
        const moveTo = target === undefined ? undefined : await ports.workspace.resolve(target);
        if (moveTo !== undefined) refuseDuplicate(seen, moveTo);
        effects.push(...(await effectsOf(file, { path, moveTo }, time, signal)));
      }
      const names = effects.map(({ path }) => pathName(path));
      const more = names.length > 3 ? ` and ${names.length - 3} more` : "";
      return { statement: `Patch ${names.slice(0, 3).join(", ")}${more}`, effects };
    },

    execute: plans.execute,
    verify: plans.verify,

    async explainRefusal(_args, analysis, { code }, { signal }) {
      if (code !== "stale_file") return undefined;
      const time = new ComparingTime();
      for (const write of analysis.effects) {
        if (write.type !== "write" || write.base?.sha256 === write.current) continue;
        const file = hunksOf.get(write);
        const detail = await staleFileDetail(
          ports,
          write,
          (base) => (file === undefined ? { type: "gone" } : patched(file, base, pathName(write.path), time)),
          signal,
        );
        if (detail !== undefined) return detail;
      }
      return undefined;
    },
  };
}

interface Paths {
  readonly path: WorkspacePath;
  readonly moveTo: WorkspacePath | undefined;
}

type UpdatedFile = PatchedFile & { readonly operation: "update" };

function patched(file: UpdatedFile, before: FileContent, name: string, time: ComparingTime): IntendedText {
  const old = editableText(before.bytes);
  if (old === undefined) throw new ToolFailure("binary_file", `${name} is not a text file, so it cannot be patched.`);
  const { text, fitted } = patchText(old.text, file.hunks, name, time);
  const { edits } = time.spend((timeoutMs) => diffLines(old.text, text, { timeoutMs }));
  return {
    ...intendedEdits(old, text, edits),
    note: fitted.map(({ hunk, differing }) => `${name}: hunk ${hunk} fits but for ${differing}.`).join("\n"),
  };
}

function movedFile(
  file: UpdatedFile,
  { before, mode, name }: { readonly before: FileContent; readonly mode: number; readonly name: string },
  time: ComparingTime,
): IntendedFile {
  // Like Move: works for non-text files too.
  if (file.hunks.length === 0)
    return { type: "moved", bytes: before.bytes, mode, content: decodeText(before.bytes)?.text };
  const { text, note = "" } = patched(file, before, name, time);
  refuseMaskedText(fileText(text), () => Buffer.from(before.bytes).toString("utf8"));
  return { type: "moved", bytes: fileBytes(text), mode, content: fileText(text), note };
}

function exists(name: string): ToolFailure {
  return new ToolFailure("already_exists", `${name} exists already; nothing was changed.`, {
    hint: "Use Update File to change it, or choose another path.",
  });
}

function unsaved(name: string): ToolFailure {
  return new ToolFailure("unsaved_changes", `${name} has unsaved changes in the user's editor; nothing was changed.`, {
    hint: "Change it with Edit or MultiEdit, which write through the editor, or ask the user to save it.",
  });
}
