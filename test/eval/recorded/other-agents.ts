/** A call of a tool, in whichever agent's words. */
export interface AgentCall {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/**
 * Tools of other agents and ours of the same kind. A model calls the tools that it is offered, by their names: so the name is
 * taken for granted, and what is looked at is how the arguments are written. Our own names are told by the gate itself.
 */
const sameKind: Readonly<Record<string, string>> = {
  // codex
  shell: "Bash",
  local_shell: "Bash",
  exec_command: "Bash",
  // Gemini CLI
  run_shell_command: "Bash",
  read_file: "Read",
  write_file: "Write",
  replace: "Edit",
  search_file_content: "Grep",
  grep_search: "Grep",
  list_directory: "LS",
  // OpenHands, SWE-agent
  execute_bash: "Bash",
  view_file: "Read",
  find_file: "Glob",
  search_dir: "Grep",
  // cline
  run_commands: "Bash",
  execute_command: "Bash",
  replace_in_file: "Edit",
  search_files: "Grep",
  list_files: "LS",
  // opencode, pi
  list: "LS",
  find: "Glob",
};

/** Tools that are several in one, by what `command` says. */
const byCommand: Readonly<Record<string, string>> = {
  view: "Read",
  create: "Write",
  str_replace: "Edit",
  insert: "Edit",
};
const severalInOne = new Set(["str_replace_editor", "str_replace_based_edit_tool"]);

/** Names that are ours or become ours without case, hyphens and underscores. */
const own =
  /^(?:read|write|edit|multi_?edit|delete|move|bash|grep|glob|ls|todo_?write|todo_?read|skill|web_?fetch|web_?search|bash_?output|kill_?shell|task)$/i;

/** The call as a model would make it here; undefined where there is no tool of that kind. */
export function asOurTool({ tool, input }: AgentCall): AgentCall | undefined {
  if (severalInOne.has(tool)) {
    const { command, ...rest } = input;
    const ours = Object.hasOwn(byCommand, String(command)) ? byCommand[String(command)] : undefined;
    return ours === undefined ? undefined : { tool: ours, input: rest };
  }
  if (own.test(tool)) return { tool, input };
  return Object.hasOwn(sameKind, tool) ? { tool: sameKind[tool] ?? tool, input } : undefined;
}
