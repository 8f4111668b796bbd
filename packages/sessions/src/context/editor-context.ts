/** The state of the user's editor, sent by a client with a prompt. Paths are relative to the workspace, and unchecked. */
export interface EditorContext {
  /** Empty: none. */
  readonly activeFile: string;
  /** Selection in the active file; lines are 1-based and inclusive. */
  readonly selection: { readonly startLine: number; readonly endLine: number; readonly text: string } | undefined;
  readonly openFiles: readonly string[];
  /** The active file's text in the editor, including unsaved changes. Empty: not sent. */
  readonly activeText: string;
  /** Other information about the user's position. Empty: none. */
  readonly other: string;
}
