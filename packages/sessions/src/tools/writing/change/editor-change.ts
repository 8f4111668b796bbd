import { randomUUID } from "node:crypto";
import type { WorkspacePath } from "@gennai/governance/effect";
import type { ToolOutcome, Verification } from "@gennai/governance/tool";
import { ToolFailure } from "@gennai/governance/tool-error";
import { sha256 } from "@gennai/machine/workspace/files/content-digest";
import { decodeText, encodeText } from "@gennai/machine/workspace/files/text-file";
import type { FileContent } from "@gennai/machine/workspace/workspace";
import type { EditorBridge } from "../../../bridge/session-bridge.ts";
import { pathName } from "../../path-name.ts";
import type { ToolFact } from "../../tool-fact.ts";
import { changeRecord, lineReport, notesOf, observedAfter, type PlannedChange } from "./planned-change.ts";

/**
 * The bytes an editor would save for a buffer. Throws `unsupported_encoding` if unknown: writes through the editor are checked
 * against them.
 */
export async function bufferContent(
  editor: EditorBridge,
  path: WorkspacePath,
  signal: AbortSignal,
): Promise<FileContent> {
  const reason = "Need latest buffer including unsaved changes";
  const file = await editor.readFile({ path: pathName(path), offset: 0, limit: 0, reason }, { signal });
  const bytes = encodeText(file.content, { bom: file.bom });
  const digest = sha256(bytes);
  if (file.truncated || (file.sha256 !== "" && file.sha256 !== digest)) {
    throw new ToolFailure("unsupported_encoding", `${pathName(path)} has unsaved changes that cannot be read whole.`, {
      hint: "Ask the user to save the file, then read it again.",
    });
  }
  return { bytes, sha256: digest };
}

/** Writes through the editor that has the unsaved changes. Throws `ToolFailure`; then nothing was applied. */
export async function applyInEditor(
  editor: EditorBridge,
  planned: readonly PlannedChange[],
  statement: string,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const changes = planned.map(({ change, before, blocks }) => {
    const text = change.operation === "delete" ? undefined : decodeText(change.bytes);
    if (change.operation !== "update" || text === undefined) {
      throw new ToolFailure("unsaved_changes", `${pathName(change.path)} has unsaved changes in the user's editor.`, {
        hint: "Ask the user to save or discard them first.",
      });
    }
    return {
      path: change.path.relative,
      text: text.text,
      before,
      blocks,
      afterSha256: sha256(change.bytes),
      base: change.baseSha256,
    };
  });
  const applied = await editor.applyChanges(
    {
      changeSetId: randomUUID(),
      changes: changes.map(({ path, text, base }, index) => ({
        id: `${index + 1}`,
        path,
        operation: "update",
        unifiedDiff: "",
        newContent: text,
        baseSha256: base,
        conflict: false,
        warning: "",
        hunks: [],
      })),
    },
    { signal },
  );
  for (const { path, afterSha256 } of changes) {
    if (applied.find((file) => file.path === path)?.afterSha256 === afterSha256) continue;
    throw new ToolFailure("applied_differently", `The editor did not apply ${path} as it was asked to.`, {
      failureClass: "partial_execution",
      hint: "Read the file again to see what is in it now.",
    });
  }
  const fileChanges = changes.map(({ path, before, blocks, afterSha256 }) => ({
    path,
    operation: "update" as const,
    beforeSha256: before?.sha256,
    afterSha256,
    blocks,
  }));
  const fact: ToolFact = { type: "change-set", files: fileChanges.map(changeRecord) };
  return {
    output: `${statement}.${lineReport(fileChanges)} [in the editor's buffer, not saved]${notesOf(planned)}`,
    changes: fileChanges,
    observed: fileChanges.map(({ path, afterSha256 }, index) =>
      observedAfter(planned[index], path, "buffer", afterSha256),
    ),
    facts: [fact],
  };
}

/** Reads the editor's current text. */
export async function verifyInEditor(
  editor: EditorBridge,
  path: WorkspacePath,
  afterSha256: string | undefined,
  signal: AbortSignal,
): Promise<Verification> {
  const now = await bufferContent(editor, path, signal);
  return now.sha256 === afterSha256
    ? { state: "verified", evidence: `Read from the editor again, the hash is right: ${path.relative}.` }
    : {
        state: "failed",
        evidence: `${path.relative} holds something else: read from the editor again after the change.`,
      };
}
