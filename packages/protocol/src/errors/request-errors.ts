import type { ErrorMeanings } from "./error-meaning.ts";

/** Why a request to the server was refused: the `code` of its `ErrorInfo`. The first eight are as general as Connect's own. */
export const requestErrors = {
  editor_model: {
    means: "attempts cannot use a model of the editor, which answers only in the editor's own session",
    next: "Choose a model of a provider.",
  },
  invalid_argument: { means: "a field has a value that is not possible", next: "The message names it." },
  no_check: {
    means: "there is no command that decides between attempts",
    next: "Write `check` into `.gennai/config.yaml`, or name one: `--check`.",
  },
  no_place: {
    means: "copies cannot be made beside the workspace",
    next: "Work in a directory below one that you own.",
  },
  not_found: { means: "no such session, request, proposal, change set or content", next: "List those that exist." },
  already_exists: { means: "it was answered, reviewed or applied before", next: "Nothing: the first answer counts." },
  not_staged: {
    means: "attempts need staged commands, and commands cannot be staged here",
    next: "The message says why; `gennai doctor` says what is missing.",
  },
  not_taken: { means: "taking an attempt was stopped, and nothing is proposed", next: "Take it again." },
  nothing_to_take: {
    means: "the attempt has not ended, or changed nothing",
    next: "Wait for its end, or take another one.",
  },
  permission_denied: { means: "it belongs to another session, or is not allowed", next: "The message says why." },
  failed_precondition: { means: "it cannot be done in the present state", next: "The hint says what to do first." },
  resource_exhausted: { means: "a limit is reached", next: "Close sessions or wait." },
  unauthenticated: { means: "no token, or one that is not valid", next: "Send the right one." },
  unavailable: { means: "the server is shutting down, or its log does not answer", next: "Try again." },

  request_too_large: {
    means: "the request is longer than its method takes; HTTP status 413 if the protocol allows that",
    next: "Send less at once.",
  },
  owner_only: {
    means: "the session belongs to another user: an admin may only see it and stop its turn",
    next: "Ask the person who started the session to do it.",
  },
  approver_only: {
    means: "only those who may agree as the second person may do this",
    next: "Ask somebody whose token has the approver role.",
  },
  admin_only: { means: "only admins may do this", next: "Ask somebody whose token has the admin role." },
  aborted: { means: "the turn was stopped while this went to the client that holds the files", next: "Try again." },
  act_under_way: {
    means: "the session is not deleted while an apply, undo, restore or keep is under way in it",
    next: "Wait for its end, then delete it.",
  },
  action_denied: { means: "the gate denies an action of the plan", next: "Submit a plan without it." },
  change_does_not_fit: {
    means: "a patch of the plan does not fit its file, so it cannot be shown what it would change",
    next: "Submit a plan that fits the files as they are now.",
  },
  bad_branch_name: { means: "git does not take the branch's name", next: "Choose another." },
  bad_digest: { means: "not a SHA-256 in hex", next: "Send the digest that the preview showed." },
  busy: { means: "the same thing is being done right now", next: "Wait for its end." },
  cannot_add: { means: "git could not add a working tree", next: "The message has git's reason; prune old ones." },
  cannot_commit: {
    means: "git could not make the first commit",
    next: "The message has git's reason. Often user.name and user.email are not set, or too many files have no .gitignore.",
  },
  cannot_switch: { means: "git could not switch branches", next: "Correct what git names, or use Proposal Mode." },
  capabilities_changed: {
    means: "what the policies permit changed since the preview",
    next: "Preview and approve again.",
  },
  changed_since: {
    means: "a file changed since the agent changed it, so none of the change set is undone",
    next: "Undo your own change first, use git, or restore the other files from a checkpoint.",
  },
  content_gone: {
    means: "the proposed content, or the former content, is no longer kept",
    next: "Ask for the change again; restore by git.",
  },
  digest_mismatch: { means: "the plan is not the one that was approved", next: "Preview and approve what is there." },
  disk_failed: {
    means: "the server's disk does not work, so nothing can be recorded",
    next: "The person who runs the server looks at the disk; then try again.",
  },
  disk_full: {
    means: "the server's disk is full, so nothing can be recorded",
    next: "The person who runs the server frees some space; then try again.",
  },
  disk_read_only: {
    means: "the server's disk cannot be written, so nothing can be recorded",
    next: "The person who runs the server makes the state directory writable; then try again.",
  },
  emergency_changed: { means: "an emergency control changed since the preview", next: "Preview and approve again." },
  git_failed: { means: "git failed while a tree was kept or restored", next: "The message has git's reason." },
  git_missing: { means: "there is no git", next: "Install git, or use Proposal Mode." },
  head_moved: { means: "HEAD moved since the preview", next: "Preview and approve again." },
  hunks_do_not_fit: { means: "a review names hunks that the change does not have", next: "Show the proposal again." },
  illegal_state: { means: "the plan's state does not allow this step", next: "The hint names the next one." },
  intent_changed: { means: "the intent changed since the preview", next: "Preview and approve again." },
  invalid_plan: {
    means: "the text is not a plan, or a step lacks a field or declares less than its actions do",
    next: "The message and the detail `RefusedPlan` list each step and field; correct them and submit it again.",
  },
  internal: { means: "an unexpected error; its text is only in the server's log", next: "Look there and report it." },
  ledger_rolled_back: {
    means: "the server's database is older than what was signed last, so nothing is recorded and nothing is done",
    next: "Whoever runs the server puts the newer one back, or accepts the loss. `gennai doctor` says what is missing.",
  },
  message_gone: {
    means: "the model already got this message, or somebody withdrew it before",
    next: "Send a new one; the conversation shows what the model got.",
  },
  no_turn_listens: { means: "no turn is running that takes messages", next: "Start a turn with it." },
  nobody_to_ask: {
    means:
      "part of the plan needs another answer of a person, and no client that can answer is open; nothing was run, and the approval was not used up",
    next: "Open the session in a client (`gennai open`), then do it again.",
  },
  not_kept: { means: "what the checkpoint needs is gone", next: "Choose a newer one, or use git." },
  not_previewed: { means: "a plan is approved only after its preview", next: "Preview it." },
  not_trusted: {
    means: "the repository belongs to another user, or its data points to that of another repository",
    next: "The message says which. For another user: set git's `safe.directory` yourself.",
  },
  no_descriptors: {
    means: "the server has nearly as many files and connections open as the system permits",
    next: "Close other clients; the person who runs the server raises `ulimit -n`.",
  },
  outside_workspace: { means: "the path lies outside the workspace", next: "Name a path inside." },
  plan_damaged: { means: "the stored plan does not fit its digest", next: "Submit it again." },
  policy_changed: { means: "the rules changed since the preview", next: "Preview and approve again." },
  preview_changed: { means: "the files changed since the preview", next: "Preview and approve again." },
  proposal_mode: { means: "plans do not run in Proposal Mode", next: "Switch to Branch Mode, then preview the plan." },
  server_draining: { means: "the server is about to stop", next: "Try again: another server answers." },
  session_deleted: {
    means: "somebody deleted the session while this client followed it",
    next: "Open another one, or start a new one. Exported copies still exist.",
  },
  session_leaves: { means: "the session is being deleted", next: "Go on in another session." },
  session_taken_over: { means: "another server took the session over", next: "Subscribe again." },
  server_overloaded: { means: "the server has reached its limit of these", next: "Wait as long as it says." },
  slow_reader: {
    means: "the client did not read the stream for too long",
    next: "Subscribe again, after the last event you have.",
  },
  stale_file: { means: "a file changed since it was proposed", next: "Ask again, or leave these files out." },
  token_bound_elsewhere: { means: "the approval is for another plan or session", next: "Approve this plan." },
  token_expired: {
    means: "the approval is older than ten minutes, or the caller's token has expired",
    next: "Approve again; or get a fresh token.",
  },
  token_missing: { means: "there is no approval", next: "Approve the plan first." },
  token_spent: { means: "the approval was used", next: "Approve again for another run." },
  token_unknown: { means: "there is no such approval", next: "Approve again." },
  too_many: {
    means: "the user or the tenant has reached the limit of these",
    next: "Wait as long as it says.",
  },
  too_many_attempts: { means: "too many wrong approvals; it was voided", next: "Approve again." },
  too_many_requests: { means: "the user makes more calls per second than allowed", next: "Wait as long as it says." },
  too_many_sessions: { means: "the user or the server has reached the limit of open sessions", next: "End one." },
  too_many_starts: { means: "too many turns of the session wait to be started", next: "Try again in a second." },
  too_many_tenants: { means: "the server has reached the limit of open tenants", next: "Try again later." },
  too_many_messages: {
    means: "too many messages wait for the model's next call",
    next: "Withdraw one, or wait until the model has read them.",
  },
  too_many_files: {
    means: "the server has reached the limit of open files, so nothing can be recorded",
    next: "Try again; the person who runs the server can raise the limit (`ulimit -n`).",
  },
  too_many_plans: { means: "the session holds too many plans", next: "Start a new session." },
  tree_in_use: { means: "another session's turn writes in this working tree", next: "Wait for its end." },
  turn_running: { means: "a turn of the session runs", next: "Wait for its end, or stop it." },
  unknown_plan: { means: "there is no such plan", next: "`gennai plan status` lists the plans." },
  workspace_not_a_directory: { means: "the workspace is not a directory", next: "Name a directory." },
  workspace_not_found: { means: "there is no such directory", next: "Check the path." },
  workspace_outside: {
    means: "the directory does not belong to the user",
    next: "Leave `working_dir` empty, or name one of your own.",
  },
  workspace_too_broad: { means: "a home directory or a whole disk cannot be a workspace", next: "Name a project." },
} as const satisfies ErrorMeanings;
