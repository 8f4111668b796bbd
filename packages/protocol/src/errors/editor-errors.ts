import type { ErrorMeanings } from "./error-meaning.ts";

/** Why the editor's extension could not do what the server or the user requested. */
export const editorErrors = {
  bad_command: {
    means: "the command cannot be typed into a terminal",
    next: "Write one line without control characters.",
  },
  bad_path: { means: "the path cannot be used", next: "Name a file of the workspace." },
  branch_failed: { means: "git did not make or switch to the branch", next: "Use Proposal Mode, or try again." },
  busy: { means: "the file changes while it is read or written", next: "Try again." },
  conflict: { means: "the change has a conflict", next: "Review the proposal." },
  dirty_tree: { means: "changes that are not committed are in the way", next: "Commit or stash them." },
  duplicate_change: { means: "a file is twice in one change set", next: "Send one change per file." },
  exists_already: { means: "the file exists already", next: "Change the file that is there." },
  incomplete_change: { means: "the new text was not sent", next: "Send it with the change." },
  model_refused: { means: "the editor's model gave no answer", next: "The message says why." },
  no_model: { means: "the editor offers no such model", next: "Choose one that it offers." },
  no_repository: { means: "the folder is not a git repository", next: "`git init`, or use Proposal Mode." },
  no_shell: { means: "there is no shell for commands in terminals", next: "Run the command on the server." },
  no_shell_integration: {
    means: "the shell does not report what it runs",
    next: "Turn on `terminal.integrated.shellIntegration.enabled`, or run it on the server.",
  },
  not_a_file: { means: "the path is not a file", next: "Name a file." },
  not_applied: { means: "the editor did not accept the edit; nothing was changed", next: "Try again." },
  not_found: { means: "there is no such file", next: "Check the path." },
  not_observed: {
    means: "the shell did not say that it runs the command",
    next: "Find out what it did before you repeat it.",
  },
  not_restored: { means: "a failed change could not be undone", next: "Look at the named files; use Undo or git." },
  not_saved: { means: "the editor could not save the file", next: "See the editor's message." },
  not_text: { means: "the file is not text", next: "Leave it alone." },
  outside_workspace: { means: "the path lies outside the workspace", next: "Name a path inside." },
  read_only: { means: "the file is read-only", next: "Make it writable, or leave it out." },
  stale_file: { means: "the file changed since it was proposed", next: "Ask for the change again." },
  terminal_closed: { means: "the terminal went away before the command was typed", next: "Try again." },
  too_large: { means: "larger than what the editor reads", next: "Search it instead." },
  unsaved_changes: { means: "the file has unsaved changes", next: "Save or discard them." },
  unsupported_encoding: { means: "the text cannot be kept in the file's encoding", next: "Convert the file." },
  untrusted_workspace: { means: "the workspace is not trusted", next: "Manage Workspace Trust." },
  wrong_directory: { means: "the terminal or the directory is not the one that was meant", next: "Try again." },
} as const satisfies ErrorMeanings;
