import type { ErrorMeanings } from "./error-meaning.ts";

/** Why the gate and its rules did not let a call run, or wanted a yes. */
export const gateErrors = {
  unknown_tool: {
    means: "no tool of this name in this scenario and mode",
    next: "Call one of the tools that are offered.",
  },
  bad_arguments: {
    means: "the arguments are not JSON, or do not fit the tool's schema",
    next: "Correct the arguments and call again.",
  },
  policy_invalid: {
    means: "a policy of this machine's administrator cannot be used, so nothing may be changed or run",
    next: "Ask the administrator to correct the file; `gennai policy show` names it and its line.",
  },
  managed_policy: {
    means: "what a setting, an option or a call asks for is not permitted by a policy that holds here",
    next: "Leave it out, or ask the contact that the message names; `gennai policy show` lists all keys.",
  },
  export_behind: {
    means:
      "a policy that holds here wants the ledger's records elsewhere, and they have not arrived there for too long",
    next: "See with `gennai doctor` why; once they arrive, the next turn may change things again.",
  },
  second_person_unavailable: {
    means: "a policy that holds here wants two persons for what a rule asks about, and no second one can be asked",
    next: "Work in branch mode on a server of many users with approvers: there a second person is asked.",
  },
  capability_denied: {
    means: "a policy in force does not permit it",
    next: "Ask the person who issues the policy; `gennai policy show` says what it permits.",
  },
  stopped: {
    means: "the turn was stopped, or a person switched all work off",
    next: "Wait for the person; `gennai emergency status` says what is off.",
  },
  stopped_by_user: {
    means: "a person stopped this one call while it ran; the turn goes on",
    next: "Nothing, or say what to do instead.",
  },
  read_only_mode: {
    means: "a person allows reading only",
    next: "A person lifts it: `gennai emergency read-only off`.",
  },
  high_impact_disabled: {
    means: "a person switched off everything of high risk",
    next: "A person lifts it: `gennai emergency disable-high-impact off`.",
  },
  tool_blocked: {
    means: "a person blocked this tool or program",
    next: "A person lifts it: `gennai emergency unblock NAME`.",
  },
  emergency_control: {
    means: "the call would reach the controls that only people use",
    next: "Type the command yourself, in a terminal of your own.",
  },
  outside_workspace: {
    means: "the real path lies outside the workspace",
    next: "Name a path inside, or open a session on the other directory.",
  },
  control_file: {
    means: "the file governs the agent, or is run or obeyed by tools",
    next: "Change it yourself; if the gate asks, a yes allows it.",
  },
  rule_violation: {
    means: "a rule of a rule file or of the floor forbids it",
    next: "Do it another way, or change the rule: the message names it.",
  },
  rule_asks: { means: "a rule of a rule file needs a yes", next: "Answer the question." },
  rules_invalid: {
    means: "a rule file cannot be used, so nothing is changed",
    next: "`gennai policy test` names file and line: correct it.",
  },
  intent_required: {
    means: "intents are on here and none is selected",
    next: "Select one: `run --intent ID`, or the tool `select_active_intent`.",
  },
  scope_violation: {
    means: "the path is not in the selected intent's scope",
    next: "Ask for a wider scope with `request_scope_expansion`, or select another intent.",
  },
  intent_ignored: {
    means: "the path is listed in `.intentignore`",
    next: "Leave it alone, or change that file yourself.",
  },
  scope_uncertain: {
    means: "it is not known what a command changes, or it may be outside the intent's scope",
    next: "Answer the question.",
  },
  scope_expansion: { means: "the agent wants an intent to own more paths", next: "Answer the question." },
  hook_denied: { means: "an external hook refused the call", next: "The message is from the hook: do what it says." },
  hook_asks: { means: "an external hook needs a yes", next: "Answer the question." },
  hook_failed: {
    means: "an external hook or a rule failed, which counts as a no",
    next: "Run the hook by hand with the call's JSON on its input, and correct it.",
  },
  zero_access: {
    means: "the file holds secrets, or a rule hides it from the agent",
    next: "Work without its content; tell the agent the one fact it needs.",
  },
  path_not_allowed: {
    means: "the path lists of `.gennai/config.yaml` do not allow it",
    next: "Work on allowed paths, or change the lists.",
  },
  dangerous_command: {
    means: "the command does something that no agent may do",
    next: "Do it another way; if it is really needed, type it yourself.",
  },
  command_needs_confirmation: { means: "it is not certain that the command only reads", next: "Answer the question." },
  command_not_resolved: {
    means: "it cannot be known beforehand what the command does",
    next: "Write it plainly, without `eval` and computed names, or answer the question.",
  },
  change_needs_confirmation: {
    means: "a command made changes that a person has to look at, and none of them was kept",
    next: "Look at the paths and answer the question.",
  },
  key_needs_confirmation: {
    means: "the command would use a login of yours",
    next: "Answer the question, which names it and the host; it is asked every time.",
  },
  high_risk: { means: "high risk needs a yes of its own", next: "Answer the question; `--yes` does not answer it." },
  high_risk_terminal: {
    means: "a command of high risk does not run in the user's terminal",
    next: "Use `Bash`, where it is asked about and isolated, or type it yourself.",
  },
  not_read: { means: "the file was not read in this session", next: "Read it, then change it." },
  file_exists: { means: "a file is there already", next: "Read it, then edit it." },
  stale_file: {
    means: "the file changed since it was read or proposed",
    next: "Read it again; the detail shows what was read, what is there and what was wanted.",
  },
  no_repository: {
    means: "Branch Mode needs a git repository",
    next: "`git init`, or use Proposal Mode: `--mode proposal`.",
  },
  no_branch: {
    means: "a command changed files, and there is no branch with which to undo the changes",
    next: "Answer the question, or work on a branch.",
  },
  detached_head: { means: "HEAD is on no branch", next: "Check out a branch." },
  protected_branch: {
    means: "the branch is protected",
    next: "Go to a branch of the agent's own (`gennai run` does), or use Proposal Mode.",
  },
  branch_moved: { means: "HEAD moved since the turn began", next: "Start a new turn on the branch you are on." },
  proposal_mode: {
    means: "nothing is written or run in Proposal Mode",
    next: "Propose the change, or use Branch Mode.",
  },
  masked_text: {
    means: "masked text would be written into a file",
    next: "Change the lines around it; leave it alone.",
  },
  workspace_busy: {
    means: "another session writes to this working tree, and this turn has waited long enough for it",
    next: "Try again when it has ended, or use `run --worktree`.",
  },
  new_external_tool: {
    means: "a tool of an MCP server was never accepted",
    next: "Look at its description; a yes accepts it as it is.",
  },
  changed_external_tool: {
    means: "an MCP server, or how it describes its tool, is not as you accepted it",
    next: "Look at the difference; a yes accepts it as it is now.",
  },
  check_needs_confirmation: {
    means: "the check after an edit runs a command that the repository names",
    next: "Answer the question; a yes for the session is for exactly this command.",
  },
  network_needs_confirmation: {
    means: "a command wants to reach a host that nobody let it reach",
    next: "Answer the question, which names host and port; `gennai answers allow` answers in advance.",
  },
  no_checkpoint: {
    means: "the tree could not be kept before a command, so what it changes could not be undone",
    next: "Correct what the message names, or answer yes to go on without.",
  },
  plan: { means: "an action of a plan has to be seen before the plan is approved", next: "Preview the plan." },
  user_denied: { means: "a person said no", next: "Say what to do instead." },
  unclear_answer: { means: "the answer was neither yes nor no, which is a no", next: "Call again and answer clearly." },
  confirmation_timeout: { means: "nobody answered in time, which is a no", next: "Ask again when somebody is there." },
  nobody_to_ask: {
    means: "a yes was needed, and there is nobody to ask",
    next: "Run it at a terminal, with `--ask`, or with `--yes`.",
  },
  changed_after_approval: {
    means: "after the yes the same call meant something else",
    next: "Call again; it is asked about again.",
  },
  gate_failed: { means: "the gate itself failed, which is a no", next: "Read the server's log." },
  no_policy: { means: "no rule looked at the call, which is a no", next: "Report it: this is a mistake in Gennai." },
} as const satisfies ErrorMeanings;
