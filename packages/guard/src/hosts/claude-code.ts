import { homedir } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import {
  type GuardedHost,
  type HostCall,
  type HostCallEnd,
  type HostEvent,
  probeSession,
  settingsChange,
} from "./guarded-host.ts";
import { isEventBut, payloadReader } from "./payload-reader.ts";

const parsed = payloadReader("This is not a message that Claude Code tells a hook");

/** Events for which the hook is put in place. Of others it is never told. */
export const claudeCodeEvents = [
  "PreToolUse",
  "PostToolUse",
  "PostToolUseFailure",
  "ConfigChange",
  "Stop",
  "SessionEnd",
] as const;

/** Before them, a hook can refuse. */
const before = ["PreToolUse", "ConfigChange"] as const;

const id = z.string().min(1).max(200);
const input = z.looseObject({ session_id: id, hook_event_name: z.string() });
const call = z.looseObject({
  cwd: z.string().min(1).max(4096),
  tool_name: z.string().min(1).max(200),
  tool_use_id: id,
  tool_input: z.record(z.string(), z.unknown()),
});
const change = z.looseObject({
  cwd: z.string().min(1).max(4096),
  source: z.string(),
  file_path: z.string().optional(),
});
const end = z.looseObject({
  tool_use_id: id,
  tool_name: z.string().max(200).optional(),
  tool_input: z.record(z.string(), z.unknown()).optional(),
  error: z.string().optional(),
  tool_response: z.unknown().optional(),
});

/** Claude Code's hooks, as its reference on hooks describes them and version 2.1 sends them. */
export const claudeCode: GuardedHost = {
  id: "claude-code",
  title: "Claude Code",
  asks: true,
  hook: {
    // By its reference of hooks since 2.1.295; 2.1.290 was seen to leave it out, and to start the hook.
    form: {
      type: "settings",
      events: claudeCodeEvents,
      before,
      more: { PreToolUse: { onFailure: "block" } },
    },
    probe: (file, cwd) => ({
      session_id: probeSession,
      hook_event_name: "PreToolUse",
      cwd,
      tool_name: "Write",
      tool_use_id: crypto.randomUUID(),
      tool_input: { file_path: file, content: "" },
    }),
    saysProject: true,
    // The first is not shared with others, because the program's path differs between machines.
    projectFiles: (workspace) => [
      join(workspace, ".claude", "settings.local.json"),
      join(workspace, ".claude", "settings.json"),
    ],
    program: "claude",
    majors: [2],
    // 2.1.40 leaves out a whole file of settings that names an event it does not know.
    since: "2.1.49",
    home: ({ CLAUDE_CONFIG_DIR, HOME }) => CLAUDE_CONFIG_DIR || join(HOME || homedir(), ".claude"),
    switches: ["CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_SAFE_MODE"],
    userFile: "settings.json",
    managed: {
      file: "/etc/claude-code/managed-settings.d/50-gennai.json",
      text: (settings) => `${JSON.stringify({ allowManagedHooksOnly: true, ...Object(settings) }, undefined, 2)}\n`,
    },
    limits: [
      "A file named with @ in a prompt is read without a hook.",
      "Before 2.1.295, a hook that takes longer than its time, or that cannot be started, does not stop a call.",
      "Gennai sees the text of a command, not what it does. Commands not proven to read are asked about.",
      "A command that runs already is not stopped by an emergency control; Claude Code stops at its end.",
    ],
    limitsUnmanaged: [
      "With --bare or --safe-mode Claude Code starts no hook, and every call runs.",
      "Hooks and settings of plugins and of an organisation are not looked at.",
      "Settings that change while Claude Code runs are kept out, unless the hook is killed or takes too long.",
    ],
  },

  read(payload): HostEvent {
    if (isCopilots(payload)) return { type: "other" };
    const { session_id: session, hook_event_name: event } = parsed(input, payload);
    switch (event) {
      case "PreToolUse": {
        const { cwd, tool_name: name, tool_use_id: callId, tool_input: args } = parsed(call, payload);
        return { type: "before", session, callId, directory: cwd, call: hostCall(name, args, cwd) };
      }
      case "ConfigChange": {
        const { cwd: directory, source, file_path: path = source } = parsed(change, payload);
        // Those of an administrator cannot be refused; skills are judged as they are used.
        if (!source.endsWith("_settings") || source === "policy_settings") return { type: "other" };
        const asked: HostCall = { type: "judged", tool: settingsChange, args: { path }, readsOnly: false };
        return { type: "before", session, callId: crypto.randomUUID(), directory, call: asked };
      }
      case "PostToolUse":
      case "PostToolUseFailure": {
        const { tool_use_id: callId, error, tool_name: name, tool_input: args } = parsed(end, payload);
        const told = callEnd(event === "PostToolUseFailure", error ?? "");
        if (name === undefined || args === undefined) return { type: "after", session, callId, end: told };
        // The working directory may have changed by then, so it is not compared.
        return { type: "after", session, callId, end: told, ran: hostCall(name, args, undefined) };
      }
      case "Stop":
      case "SessionEnd":
        return { type: "idle", session };
      default:
        return { type: "other" };
    }
  },

  isAfterCall: isEventBut(before, claudeCodeEvents),

  answer(verdict, event) {
    const isChange = event?.type === "before" && event.call.type === "judged" && event.call.tool === settingsChange;
    const decision = isChange ? blocked : permission;
    switch (verdict.type) {
      // Its own rules and questions go on to hold: a yes of the gate takes none of them away.
      case "allow":
        return undefined;
      case "ask":
      case "deny":
        return decision(verdict.type, verdict.reason);
      case "stop":
        return {
          continue: false,
          stopReason: verdict.reason,
          ...(verdict.before ? decision("deny", verdict.reason) : {}),
        };
    }
  },
};

/**
 * GitHub's Copilot CLI also reads Claude Code's settings, and runs their hooks with its own input: it has a timestamp, and
 * lacks what Claude Code always sends. Copilot has its own guard.
 */
function isCopilots(payload: unknown): boolean {
  const { data } = z.looseObject({ timestamp: z.string() }).safeParse(payload);
  return (
    data !== undefined &&
    !["tool_use_id", "transcript_path", "permission_mode"].some((name) => Object.hasOwn(data, name))
  );
}

function blocked(_decision: "ask" | "deny", reason: string) {
  return { decision: "block", reason };
}

function permission(permissionDecision: "ask" | "deny", permissionDecisionReason: string) {
  return { hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision, permissionDecisionReason } };
}

/**
 * Tools that reach nothing but the agent's own state and its user. Not skills and slash commands: the shell lines in them are run as they
 * are loaded, and no hook is told.
 */
const ownTools: ReadonlySet<string> = new Set([
  "AskUserQuestion",
  "BashOutput",
  "EnterPlanMode",
  "ExitPlanMode",
  "KillBash",
  "KillShell",
  "ListMcpResourcesTool",
  "StructuredOutput",
  "TaskCreate",
  "TaskGet",
  "TaskList",
  "TaskOutput",
  "TaskStop",
  "TaskUpdate",
  "TodoRead",
  "TodoWrite",
  "ToolSearch",
]);

/**
 * A sub-agent's actions come as separate calls, from here or from its own working tree here. From another machine, no calls
 * come.
 */
const subAgents: ReadonlySet<string> = new Set(["Agent", "Task"]);

function runsHere(isolation: unknown): boolean {
  return isolation === undefined || isolation === null || isolation === "worktree";
}

/** Arguments for the gate's tool of the same name, without those about display or waiting. */
const taken: Readonly<Record<string, { readonly args: readonly string[]; readonly readsOnly?: true }>> = {
  Bash: { args: ["command", "description", "run_in_background", "dangerouslyDisableSandbox"] },
  Read: { args: ["file_path"], readsOnly: true },
  LS: { args: ["path"], readsOnly: true },
  Glob: { args: ["pattern", "path"], readsOnly: true },
  Grep: { args: ["pattern", "path", "glob"], readsOnly: true },
  Write: { args: ["file_path", "content"] },
  Edit: { args: ["file_path", "old_string", "new_string", "replace_all"] },
  MultiEdit: { args: ["file_path", "edits"] },
  NotebookEdit: { args: ["notebook_path", "cell_id", "cell_type", "edit_mode", "new_source"] },
  WebFetch: { args: ["url", "prompt"] },
  WebSearch: { args: ["query", "allowed_domains", "blocked_domains"] },
};

function hostCall(name: string, args: Readonly<Record<string, unknown>>, cwd: string | undefined): HostCall {
  if (ownTools.has(name) || (subAgents.has(name) && runsHere(args["isolation"]))) return { type: "own" };
  const known = Object.hasOwn(taken, name) ? taken[name] : undefined;
  if (known !== undefined) {
    const given = known.args.flatMap((key) => (Object.hasOwn(args, key) ? [[key, args[key]] as const] : []));
    return {
      type: "judged",
      tool: name,
      args: { ...Object.fromEntries(given), ...(name === "Bash" && cwd !== undefined ? { cwd } : {}) },
      readsOnly: known.readsOnly === true,
    };
  }
  const server = /^mcp__(.+?)__./.exec(name)?.[1];
  return { type: "judged", tool: name, args, readsOnly: false, server: server ?? claudeCode.id };
}

/** `Exit code 1`, and what the command printed behind it. */
function callEnd(failed: boolean, error: string): HostCallEnd {
  const code = /^Exit code (\d{1,3})\b/.exec(error)?.[1];
  return { failed, message: error.slice(0, 300), ...(code === undefined ? {} : { exitCode: Number(code) }) };
}
