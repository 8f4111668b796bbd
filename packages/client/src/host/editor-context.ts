/** The editor state that the user chose to send with a prompt. */
export interface EditorContext {
  /** Workspace path of the active file; undefined: none, or outside. */
  readonly activeFile: string | undefined;
  /** 1-based lines of the selection. */
  readonly selection: { readonly startLine: number; readonly endLine: number; readonly text: string } | undefined;
  readonly openFiles: readonly string[];
  /** The active file's text, including unsaved changes; undefined: the server may read the file. */
  readonly activeText?: string;
}

/** The message fields. */
export function editorContextFields({ activeFile, activeText, selection, openFiles }: EditorContext) {
  return {
    activeFile: activeFile ?? "",
    activeText: activeText ?? "",
    openFiles: [...openFiles],
    ...(selection === undefined ? {} : { selection: { ...selection } }),
  };
}
