/** What the user looks at, and chose to send along with a prompt. */
export interface EditorContext {
  /** Workspace path of the active file; undefined: none, or outside. */
  readonly activeFile: string | undefined;
  /** 1-based lines of the selection. */
  readonly selection: { readonly startLine: number; readonly endLine: number; readonly text: string } | undefined;
  readonly openFiles: readonly string[];
  /** What the active file holds, unsaved changes included; undefined: the server may read it. */
  readonly activeText?: string;
}

/** As the wire has it. */
export function editorContextFields({ activeFile, activeText, selection, openFiles }: EditorContext) {
  return {
    activeFile: activeFile ?? "",
    activeText: activeText ?? "",
    openFiles: [...openFiles],
    ...(selection === undefined ? {} : { selection: { ...selection } }),
  };
}
