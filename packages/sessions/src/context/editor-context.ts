/** What a client sent of the user's editor along with a prompt. Paths are relative to the workspace, and unchecked. */
export interface EditorContext {
  /** Empty: none. */
  readonly activeFile: string;
  /** Of the active file; lines are 1-based and inclusive. */
  readonly selection: { readonly startLine: number; readonly endLine: number; readonly text: string } | undefined;
  readonly openFiles: readonly string[];
  /** What the active file holds in the editor, unsaved changes included. Empty: not sent. */
  readonly activeText: string;
  /** What else a client says of where its user is. Empty: nothing. */
  readonly other: string;
}
