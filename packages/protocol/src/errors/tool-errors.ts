import type { ErrorMeanings } from "./error-meaning.ts";

/** Why a tool could not do what the gate allowed it to do. */
export const toolErrors = {
  already_exists: { means: "something is there already", next: "Choose another name, or edit what is there." },
  already_proposed: {
    means: "changes were proposed in this turn already",
    next: "Say what was proposed; end the turn.",
  },
  ambiguous_match: {
    means: "the text to replace is in several places",
    next: "Add lines around it, or set `replace_all`.",
  },
  applied_differently: {
    means: "the editor did not apply the change as asked",
    next: "Read the file again to see what is in it.",
  },
  background_not_found: {
    means: "the session has no background run with this id",
    next: "The message names those that exist.",
  },
  background_unavailable: {
    means: "nothing can run in the background here",
    next: "The message says why; run it in the foreground, with an end.",
  },
  bad_patch: {
    means: "the patch cannot be read",
    next: "The message names its line; nothing was changed.",
  },
  no_key: {
    means: "the user has no login for the host that the command wants to reach",
    next: "The message says which is missing; the user can log in, or run the command.",
  },
  no_push_target: {
    means: "it cannot be found out where the push would go",
    next: "Look at `git remote -v`, and name the remote or its address.",
  },
  too_many_background_runs: {
    means: "the session has reached the limit of commands in the background",
    next: "Stop one.",
  },
  bad_command: {
    means: "the command is not a single line, as terminals need it",
    next: "Join lines with `&&`, or use `Bash`.",
  },
  bad_directory: {
    means: "the directory for a command does not exist or is not a directory",
    next: "Name a directory of the workspace.",
  },
  bad_path: { means: "not a path of the workspace", next: "Name a path relative to the workspace." },
  bad_pattern: {
    means: "ripgrep does not accept the pattern",
    next: "Use a Rust regular expression; escape brackets.",
  },
  bad_notebook: { means: "the file is not a notebook of nbformat 4", next: "Look at its text with Grep." },
  binary_file: { means: "the file is not text", next: "Leave it alone." },
  client_error: { means: "the attached editor could not do it", next: "The message says why; try again." },
  client_timeout: { means: "no attached client answered in time", next: "Open the editor, or try again." },
  directory_changed: { means: "the command's directory is not the one that was checked", next: "Call again." },
  answer_broke_off: {
    means: "the model's answer broke off, so none of its calls ran",
    next: "Nothing: it is asked again.",
  },
  duplicate_call_id: { means: "two calls of one answer have the same id", next: "Call again, with an id of its own." },
  duplicate_change: { means: "one file is changed twice at once", next: "Put both changes into one." },
  duplicate_path: { means: "one file is proposed twice", next: "Put both changes into one." },
  file_busy: { means: "another process holds the file", next: "Try again." },
  host_not_allowed: { means: "the host is not on the user's list", next: "The user adds it to `web.json`." },
  internal: { means: "a mistake in Gennai", next: "Read the server's log and report it." },
  intent_map: { means: "`intent_map.md` is a link", next: "Put a plain file in its place." },
  intents_unreadable: { means: "the intents file cannot be read", next: "`gennai intents list` names file and line." },
  interrupted: {
    means: "the server ended while the call ran",
    next: "Find out what it did before you repeat it.",
  },
  invalid_intent: { means: "no intent with that id can be selected", next: "The hint lists those that can." },
  invalid_scope: { means: "not a path or glob of the workspace", next: "Write it relative, e.g. `docs/**`." },
  invalid_url: { means: "not an http or https URL", next: "Correct the URL." },
  io_error: { means: "the file system failed", next: "The message has the system's own code." },
  mcp_unavailable: {
    means: "the MCP server could not be reached, or broke off",
    next: "`gennai mcp list` says what is wrong.",
  },
  no_change: { means: "the file already has exactly this text", next: "Go on." },
  no_match: {
    means: "the text to replace is not in the file",
    next: "The hint shows the nearest place; read it again.",
  },
  no_space: { means: "the disk or quota is full; nothing was written", next: "Free some space." },
  no_tools: { means: "a sub-agent has none of these tools", next: "Choose from those in the hint." },
  not_a_file: { means: "not a regular file", next: "Name a file." },
  not_analysed: { means: "a mistake in Gennai: a call ran without its plan", next: "Report it." },
  not_held_here: {
    means: "a client holds the workspace, and this needs the files on the server's machine",
    next: "Do it where the files are.",
  },
  git_locked: {
    means: "another git works on the repository, so nothing was kept",
    next: "Wait until it has ended, then run the command again.",
  },
  not_committable: {
    means: "the changes of a command cannot be kept",
    next: "The message names the path and why; run the command so that it does not change that path.",
  },
  not_found: { means: "nothing is there", next: "Check the name, or list the directory." },
  not_observable: {
    means: "the changes of a command cannot be checked, so none was kept",
    next: "The message names the cause: end the process, or shorten the name.",
  },
  not_text: { means: "not text, or not in UTF-8", next: "Leave it alone, or convert it first." },
  page_not_found: { means: "the page answered with an error", next: "Check the address." },
  page_unreachable: { means: "the page could not be fetched", next: "The message says why; try again later." },
  partially_applied: {
    means: "a set of changes failed, and some of it could not be undone",
    next: "The message names the files; the next start of the server completes the set, or undoes it.",
  },
  past_end: { means: "the file has fewer lines", next: "Read with a smaller offset, or use numbers that Read shows." },
  path_changed: { means: "the path leads to another place now than when it was checked", next: "Call again." },
  permission_denied: {
    means: "the user of the server may not do this",
    next: "Change the file's permissions, or leave it.",
  },
  private_address: {
    means: "the host is on this machine or a private network",
    next: "The user adds it, with its port, to `allow_private` in `web.json`.",
  },
  read_only_file_system: { means: "the file system is read-only", next: "Mount it for writing, or leave it." },
  ripgrep_missing: { means: "there is no ripgrep", next: "Install ripgrep." },
  stage_unavailable: {
    means: "the command could not be staged, so it did not run",
    next: "The hint says what to do; `--commands ask` runs commands in the workspace instead.",
  },
  search_failed: { means: "the provider of web search gave no results", next: "The message says why." },
  secret_in_query: { means: "the search text holds a secret", next: "Search without it." },
  spawn_failed: { means: "the command could not be started", next: "The message says why." },
  stale_lines: {
    means: "the lines of the file may have other numbers now than when they were read",
    next: "Read it again, or name the text with `old_string`.",
  },
  too_large: { means: "larger than what can be read or kept", next: "Take a part, or search it." },
  too_many_open_files: { means: "the process has too many files open", next: "Try again; raise `ulimit -n`." },
  too_many_sub_agents: { means: "the turn has run all its sub-agents", next: "Do the rest in the turn itself." },
  tool_unavailable: { means: "something that the tool needs is missing", next: "The message names it." },
  unfit_image: { means: "an image is damaged, or larger than models take", next: "Make a smaller copy and use that." },
  unknown_cell: { means: "the notebook has no such cell", next: "Read it: each cell begins with its name." },
  unknown_skill: { means: "there is no such skill", next: "The hint lists the skills." },
  unreadable_page: { means: "the page cannot be converted to text", next: "Fetch another page that says the same." },
  unsaved_changes: { means: "an editor has unsaved changes of the file", next: "Save or discard them." },
  unsupported_encoding: { means: "the file is not in UTF-8", next: "Convert it first, or leave it alone." },
  workspace_unreachable: {
    means: "the client that holds the files is not attached, or did not answer in time",
    next: "Open the session where its files are; the last request may have been carried out there.",
  },
  workspace_replaced: {
    means: "the workspace was moved, deleted or replaced",
    next: "Open a new session on the directory that is there now.",
  },
} as const satisfies ErrorMeanings;
