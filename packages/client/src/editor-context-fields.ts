import type { EditorContext } from "./home/repl-home.ts";

/** What the user chose to send of the editor, as the wire has it. */
export function editorContextFields({ activeFile, selection, openFiles }: EditorContext) {
  return {
    activeFile: activeFile ?? "",
    openFiles: [...openFiles],
    ...(selection === undefined ? {} : { selection: { ...selection } }),
  };
}
