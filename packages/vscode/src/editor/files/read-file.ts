import type { FileRead, FileReadRequest } from "@gennai/protocol/model/session/editor-requests";
import { EditorError } from "../editor-error.ts";
import { resolveInWorkspace } from "../workspace-paths.ts";
import type { EditorFiles } from "./editor-files.ts";
import { type FileState, readFileState } from "./file-state.ts";
import { byteOrderMark, lineEndsOf, linesOfText } from "./text-shape.ts";

/** Most characters in one answer; the server accepts 16 MiB. */
const maxContent = 4 * 1024 * 1024;

/**
 * The newest text of a file: its buffer if that is newer than the disk, else the disk exactly as it is, with mixed line ends.
 * Rejects with `EditorError` that names the file.
 */
export async function readFile(files: EditorFiles, workspace: string, request: FileReadRequest): Promise<FileRead> {
  const state = await readFileState(files, await resolveInWorkspace(workspace, request.path));
  const { disk, buffer } = state;
  const whole =
    buffer !== undefined && (buffer.isDirty || disk === undefined || buffer.sha256 === disk.sha256)
      ? {
          text: buffer.text,
          source: "buffer" as const,
          encoding: buffer.document.encoding,
          version: buffer.version,
          dirty: buffer.isDirty,
          sha256: buffer.sha256,
        }
      : { ...(await diskText(files, state)), source: "disk" as const, version: 0, dirty: false };
  const part = linesOfText(whole.text, request, maxContent);
  const ends = lineEndsOf(whole.text);
  return {
    content: part.content,
    source: whole.source,
    encoding: whole.encoding,
    version: whole.version,
    dirty: whole.dirty,
    sha256: whole.sha256,
    diskSha256: disk?.sha256 ?? "",
    eol: ends === "none" ? (buffer?.document.eol ?? "lf") : ends === "lf" ? "lf" : "crlf",
    bom: hasByteOrderMark(whole.encoding, disk?.bytes),
    truncated: part.truncated,
    totalLines: part.totalLines,
  };
}

async function diskText(files: EditorFiles, { path, disk }: FileState) {
  if (disk === undefined) {
    throw new EditorError("not_found", `There is no file ${path.name}.`, "Check the path, or list the directory.");
  }
  if (looksBinary(disk.bytes)) throw binaryFile(path.name);
  const utf8 = decodeUtf8(disk.bytes);
  if (utf8 !== undefined) return { ...utf8, sha256: disk.sha256 };
  // Only the editor knows in which other encoding its user reads the file.
  const { encoding } = await files.loadDocument(path.absolute);
  return { text: await files.decode(disk.bytes, encoding), encoding, sha256: disk.sha256 };
}

function decodeUtf8(bytes: Uint8Array): { readonly text: string; readonly encoding: string } | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.startsWith(byteOrderMark) ? { text: text.slice(1), encoding: "utf8bom" } : { text, encoding: "utf8" };
  } catch {
    return undefined;
  }
}

/** VS Code always keeps the mark of UTF-16; that of UTF-8 is part of the encoding's name. */
function hasByteOrderMark(encoding: string, bytes: Uint8Array | undefined): boolean {
  if (encoding === "utf8bom") return true;
  return encoding.startsWith("utf16") && (bytes === undefined || markOfUtf16(bytes));
}

function markOfUtf16(bytes: Uint8Array): boolean {
  return (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
}

/** True if there is a NUL in the first 8 KiB, and no mark of UTF-16. */
export function looksBinary(bytes: Uint8Array): boolean {
  return !markOfUtf16(bytes) && bytes.subarray(0, 8192).includes(0);
}

export function binaryFile(name: string): EditorError {
  return new EditorError("not_text", `${name} is a binary file.`, "Only text files can be read or changed.");
}
