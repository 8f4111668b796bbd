import { ExpectedError } from "../../expected-error.ts";

/** Why a directory cannot be opened as a workspace. */
export type WorkspaceErrorCode = "workspace_not_found" | "workspace_not_a_directory" | "workspace_too_broad";

/** A workspace was refused when it was opened: a person chose it, so a person has to choose another. */
export class WorkspaceError extends ExpectedError {
  readonly code: WorkspaceErrorCode;
  readonly isWrongInput = true;

  constructor(code: WorkspaceErrorCode, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options);
    this.name = "WorkspaceError";
    this.code = code;
  }
}
