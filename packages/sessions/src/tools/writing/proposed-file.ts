import { createHash } from "node:crypto";
import type { FileBase, WorkspacePath } from "@gennai/governance/effect";
import { ToolFailure } from "@gennai/governance/tool-error";
import {
  changedText,
  type EditableText,
  fileBytes,
  fileText,
  withPlainLineFeeds,
} from "@gennai/machine/changes/editable-text";
import { unifiedDiff } from "@gennai/machine/changes/unified-diff";
import { decodeText, endOfLine } from "@gennai/machine/workspace/files/text-file";
import type { Workspace } from "@gennai/machine/workspace/workspace";
import { diffLines } from "@gennai/protocol/diff/line-diff";
import type { FileRead } from "@gennai/protocol/model/session/editor-requests";
import type { ChangeOperation, ProposedChange } from "@gennai/protocol/model/session/proposal";
import type { BlobStore } from "@gennai/store/log/session-log";
import type { EditorBridge } from "../../bridge/session-bridge.ts";
import type { KnownFiles } from "../../session/state/known-files.ts";
import { lostEditor } from "../lost-editor.ts";
import { pathName } from "../path-name.ts";
import { maxFileBytes } from "../text-limits.ts";
import { editText, type FittedEdit, type TextEdit } from "./change/edit-text.ts";
import { refuseMaskedText } from "./change/masked-text.ts";

/** Text up to this length is in the event itself; longer text only in its blob. */
const inlineLength = 16 * 1024;

export interface ProposedFilePorts {
  readonly workspace: Workspace;
  readonly editor: EditorBridge;
  readonly knownFiles: KnownFiles;
  readonly blobs: BlobStore;
}

export interface FileProposal {
  readonly path: WorkspacePath;
  readonly operation: ChangeOperation;
  /** Empty for a delete. */
  readonly newContent: string;
}

/** The result of edits of a file. */
export interface EditedText {
  /** The whole text, with the file's own line ends. */
  readonly content: string;
  /** SHA-256 of the text they were applied to. */
  readonly sha256: string;
  /** Edits whose old text matched inexactly. */
  readonly fitted: readonly FittedEdit[];
  /** The session has read that text. */
  readonly seen: boolean;
}

/**
 * Applies edits to the editor's buffer, if there is one, otherwise to the file on disk. A failure is returned, not thrown: it
 * may reveal the file's content, which must wait until the policies have decided.
 */
export async function editedText(
  ports: ProposedFilePorts,
  path: WorkspacePath,
  edits: readonly TextEdit[],
  signal: AbortSignal,
): Promise<EditedText | ToolFailure> {
  const name = pathName(path);
  if (!path.inside) return new ToolFailure("outside_workspace", `${name} lies outside the workspace.`);
  const found = await currentBase(ports, path, signal);
  if (found.type === "missing") return new ToolFailure("not_found", `There is no file ${name}.`);
  if (found.type === "opaque") return new ToolFailure("binary_file", `${name} is not text. ${found.warning}`.trim());
  const { sha256 } = found.base;
  try {
    const edited = editText({ bytes: fileBytes(found.text), sha256 }, edits, name);
    return {
      content: fileText(edited.text),
      sha256,
      fitted: edited.fitted ?? [],
      seen: ports.knownFiles.base(path.relative)?.sha256 === sha256,
    };
  } catch (error) {
    if (error instanceof ToolFailure) return error;
    throw error;
  }
}

/**
 * One change as shown to a user: compared with the editor's buffer if there is one, otherwise with the disk. Obstacles become
 * `conflict` and a warning. Writes only blobs. Throws `masked_text`.
 */
export async function proposedFile(
  ports: ProposedFilePorts,
  proposal: FileProposal,
  id: string,
  signal: AbortSignal,
): Promise<ProposedChange> {
  const { path, operation } = proposal;
  const name = pathName(path);
  const base = operation === "create" ? await existing(ports.workspace, path) : await currentBase(ports, path, signal);
  const objection = objectionTo(operation, base, ports.knownFiles.base(path.relative));
  const oldText = base.type === "text" ? base.text : undefined;
  const newText = operation === "delete" ? undefined : newFile(proposal.newContent, oldText);
  const oldContent = oldText === undefined ? "" : fileText(oldText);
  const newContent = newText === undefined ? "" : fileText(newText);
  refuseMaskedText(newContent, () => oldContent);
  const diff =
    base.type === "opaque" && operation !== "create"
      ? { text: `Binary files a/${name} and ${operation === "delete" ? "/dev/null" : `b/${name}`} differ\n`, hunks: [] }
      : unifiedDiff({ path: name, operation, oldText: oldContent, newText: newContent });
  const newContentBlob =
    newText === undefined ? undefined : await ports.blobs.put(fileBytes(newText), "text/plain; charset=utf-8");
  const baseBlob =
    base.type === "text" ? await ports.blobs.put(fileBytes(base.text), "text/plain; charset=utf-8") : undefined;
  return {
    id,
    path: name,
    operation,
    unifiedDiff: diff.text,
    newContent: newContent.length <= inlineLength ? newContent : "",
    ...(newContentBlob === undefined ? {} : { newContentBlob }),
    // A create has no base, even if something is in its way.
    baseSha256: base.type === "missing" || operation === "create" ? "" : base.base.sha256,
    ...(baseBlob === undefined ? {} : { baseBlob }),
    conflict: objection.conflict,
    warning: [objection.warning, base.warning].filter((text) => text !== "").join(" "),
    hunks: diff.hunks,
  };
}

type CurrentBase =
  | { readonly type: "missing"; readonly warning: string }
  | { readonly type: "text"; readonly text: EditableText; readonly base: FileBase; readonly warning: string }
  /** No text change can be proposed: binary, too large, a directory. */
  | { readonly type: "opaque"; readonly base: FileBase; readonly warning: string };

/** For a create: whether something is in the way. */
async function existing(workspace: Workspace, path: WorkspacePath): Promise<CurrentBase> {
  if ((await workspace.stat(path)) === undefined) return { type: "missing", warning: "" };
  return { type: "opaque", base: { source: "disk", sha256: "" }, warning: "" };
}

async function currentBase(ports: ProposedFilePorts, path: WorkspacePath, signal: AbortSignal): Promise<CurrentBase> {
  const stat = await ports.workspace.stat(path);
  const edited =
    stat === undefined || stat.kind === "file"
      ? await editorText(ports.editor, path, signal)
      : { text: undefined, warning: "" };
  const disk = stat === undefined ? undefined : await diskBase(ports.workspace, path, edited.warning, signal);
  if (edited.text === undefined) return disk ?? { type: "missing", warning: "" };
  // A buffer without unsaved changes equals the disk, which has the exact bytes.
  if (!edited.text.dirty && disk !== undefined) return disk;
  const content = edited.text.content;
  const marked = content.startsWith("\uFEFF");
  const plain = marked ? content.slice(1) : content;
  const bom = marked || (disk?.type === "text" && disk.text.bom);
  const text = withPlainLineFeeds({ text: plain, bom, eol: endOfLine(plain) });
  const sha256 =
    edited.text.sha256 === "" ? createHash("sha256").update(fileBytes(text)).digest("hex") : edited.text.sha256;
  return { type: "text", text, base: { source: edited.text.dirty ? "buffer" : "disk", sha256 }, warning: "" };
}

/** The editor's text of a file; a warning if it could not be read. */
async function editorText(
  editor: EditorBridge,
  path: WorkspacePath,
  signal: AbortSignal,
): Promise<{ readonly text: FileRead | undefined; readonly warning: string }> {
  if (!editor.can("file-read")) return { text: undefined, warning: "" };
  try {
    const request = {
      path: pathName(path),
      offset: 0,
      limit: 0,
      reason: "Need latest buffer including unsaved changes",
    };
    const text = await editor.readFile(request, { signal });
    if (!text.truncated) return { text, warning: "" };
    return { text: undefined, warning: text.dirty ? "The editor has unsaved changes that are not shown here." : "" };
  } catch (error) {
    if (signal.aborted || !(error instanceof ToolFailure)) throw error;
    if (error.code === "not_found") return { text: undefined, warning: "" };
    if (!lostEditor(error)) throw error;
    return { text: undefined, warning: "The editor did not answer, so unsaved changes may be missing." };
  }
}

async function diskBase(
  workspace: Workspace,
  path: WorkspacePath,
  warning: string,
  signal: AbortSignal,
): Promise<CurrentBase | undefined> {
  try {
    const { bytes, sha256 } = await workspace.read(path, { maxBytes: maxFileBytes, signal });
    const base = { source: "disk", sha256 } as const;
    const decoded = decodeText(bytes);
    if (decoded === undefined) return { type: "opaque", base, warning: "It is a binary file." };
    return { type: "text", text: withPlainLineFeeds(decoded), base, warning };
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error;
    if (error.code === "not_found") return undefined;
    return { type: "opaque", base: { source: "disk", sha256: "" }, warning: error.message };
  }
}

function objectionTo(
  operation: ChangeOperation,
  base: CurrentBase,
  known: FileBase | undefined,
): { readonly conflict: boolean; readonly warning: string } {
  if (base.type === "missing") {
    return operation === "create"
      ? { conflict: false, warning: "" }
      : { conflict: true, warning: "The file does not exist." };
  }
  if (operation === "create") return { conflict: true, warning: "A file exists already at this path." };
  if (base.type === "opaque") return { conflict: true, warning: "" };
  if (known === undefined) return { conflict: false, warning: "The file was not read in this session." };
  if (known.sha256 === base.base.sha256 && known.source === base.base.source) return { conflict: false, warning: "" };
  return { conflict: true, warning: "The file changed since it was read." };
}

/** Line ends and byte order mark as in the file, unless the text itself has CRLF. */
function newFile(content: string, old: EditableText | undefined): EditableText {
  const bom = content.startsWith("\uFEFF");
  const text = bom ? content.slice(1) : content;
  const exact = withPlainLineFeeds({ text, bom, eol: endOfLine(text) });
  if (old === undefined || text.includes("\r\n")) return old === undefined ? exact : { ...exact, bom: bom || old.bom };
  return {
    ...changedText(old, exact.text, diffLines(old.text, exact.text, { timeoutMs: 250 }).edits),
    bom: bom || old.bom,
  };
}
