import { ServiceError } from "@gennai/machine/service-error";
import type { EditorContext as WireContext } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import type { EditorContext } from "@gennai/sessions/context/editor-context";

const maxPath = 4096;
const maxOpenFiles = 200;
const maxText = 256 * 1024;

export function editorContextFromWire(wire: WireContext | undefined): EditorContext | undefined {
  if (wire === undefined) return undefined;
  const { activeFile, activeText, selection, openFiles } = wire;
  if ([activeFile, ...openFiles].some((path) => path.length > maxPath)) {
    throw new ServiceError("invalid_argument", `A path of editor_context has at most ${maxPath} characters.`);
  }
  if (openFiles.length > maxOpenFiles) {
    throw new ServiceError("invalid_argument", `editor_context.open_files has at most ${maxOpenFiles} paths.`);
  }
  if (selection !== undefined && selection.text.length > maxText) {
    throw new ServiceError("invalid_argument", `editor_context.selection.text has at most ${maxText} characters.`);
  }
  if (activeText.length > maxText) {
    throw new ServiceError("invalid_argument", `editor_context.active_text has at most ${maxText} characters.`);
  }
  if (selection !== undefined && (selection.startLine < 1 || selection.endLine < selection.startLine)) {
    throw new ServiceError(
      "invalid_argument",
      "editor_context.selection counts lines from 1, the last not before the first.",
    );
  }
  return {
    activeFile,
    selection:
      selection === undefined || selection.text === ""
        ? undefined
        : { startLine: selection.startLine, endLine: selection.endLine, text: selection.text },
    openFiles,
    activeText,
    other: "",
  };
}
