import { homedir } from "node:os";
import { join } from "node:path";
import { sha256Hex } from "@gennai/protocol/digest";
import * as z from "zod";
import {
  type GuardedHost,
  type HostAnswer,
  type HostCall,
  type HostCallEnd,
  type HostEvent,
  probeSession,
} from "./guarded-host.ts";
import { patchedFiles } from "./patched-files.ts";
import { payloadReader } from "./payload-reader.ts";
import { judged } from "./plugin-words.ts";

const parsed = payloadReader("This is not a message that Copilot CLI tells a hook");

/** Events for which the hook is put in place. Of others it is never told. */
const copilotEvents = ["preToolUse", "postToolUse", "postToolUseFailure", "agentStop", "sessionEnd"] as const;

/** Its payloads do not say which event they are of: what they hold does. */
const session = z.looseObject({ sessionId: z.string().min(1).max(200) });
const call = session.extend({
  cwd: z.string().min(1).max(4096),
  toolName: z.string().min(1).max(200),
  toolArgs: z.unknown(),
});
const success = call.extend({ toolResult: z.looseObject({ resultType: z.string(), textResultForLlm: z.unknown() }) });
const failure = call.extend({ error: z.string() });
/** Whatever else it may say one day: what names a tool is a call. */
const rest = session
  .extend({ stopReason: z.string(), toolName: z.undefined().optional() })
  .or(session.extend({ reason: z.string(), toolName: z.undefined().optional() }));
type Call = z.infer<typeof call>;

/** GitHub Copilot CLI's hooks, as its reference on hooks describes them and version 1.0.102 sends them. */
export const copilot: GuardedHost = {
  id: "copilot",
  title: "Copilot CLI",
  asks: true,
  namesCalls: false,
  hook: {
    form: { type: "settings", events: copilotEvents, before: ["preToolUse"], flat: true },
    probe: (file, cwd) => ({
      sessionId: probeSession,
      cwd,
      toolName: "create",
      toolArgs: { path: file, file_text: "" },
    }),
    projectFiles: (workspace) => [
      join(workspace, ".github", "copilot", "settings.local.json"),
      join(workspace, ".github", "copilot", "settings.json"),
    ],
    program: "copilot",
    majors: [1],
    home: ({ COPILOT_HOME, HOME }) => COPILOT_HOME || join(HOME || homedir(), ".copilot"),
    userFile: join("hooks", "gennai-guard.json"),
    nextStep:
      "Copilot CLI starts no hook in a directory that you have not trusted. Trust it when asked, or install with --user.",
    limits: [
      "In a directory that is not trusted, it leaves the project's hook out, and every call runs.",
      "By its reference, a hook that is too slow does not stop a call. disableAllHooks switches all hooks off.",
      "Where its user cannot be asked (copilot -p), what would be asked about is refused, with the reason.",
      "When a server runs but does not answer, every call is refused without a reason.",
      "Gennai sees the text of a command, not what it does. Commands not proven to read are asked about.",
      "Its hook cannot end its work: after stop-all each call is refused. A command that runs already is not stopped.",
      "It also starts the hooks in Claude Code's settings; ours there lets its calls go on. Hooks of plugins and of an organisation are not looked at.",
      "Not tried with the program: files named with @, its window, web pages, skills, and tools of MCP servers. Its own cloud agent is not guarded.",
    ],
  },

  read(payload): HostEvent {
    const { sessionId } = parsed(session, payload);
    const failed = failure.safeParse(payload).data;
    if (failed !== undefined) return ended(failed, { failed: true, message: failed.error.slice(0, 300) });
    const done = success.safeParse(payload).data;
    if (done !== undefined) return ended(done, resultOf(done.toolResult));
    if (rest.safeParse(payload).success) return { type: "idle", session: sessionId };
    if (typeof payload !== "object" || payload === null || !("toolName" in payload)) return { type: "other" };
    const told = parsed(call, payload);
    return {
      type: "before",
      session: sessionId,
      callId: idOf(told),
      directory: told.cwd,
      call: hostCall(told, told.cwd),
    };
  },

  isAfterCall: (payload) =>
    failure.safeParse(payload).success || success.safeParse(payload).success || rest.safeParse(payload).success,

  answer(verdict): HostAnswer | undefined {
    // A response after the call cannot prevent anything: each call is denied on its own.
    if (verdict.type === "allow" || (verdict.type === "stop" && !verdict.before)) return undefined;
    return {
      permissionDecision: verdict.type === "ask" ? "ask" : "deny",
      permissionDecisionReason: verdict.reason,
    };
  },
};

function ended(told: Call, end: HostCallEnd): HostEvent {
  return { type: "after", session: told.sessionId, callId: idOf(told), end, ran: hostCall(told, undefined) };
}

/** Copilot gives calls no ids: the content identifies them. */
function idOf({ toolName, toolArgs }: Call): string {
  return sha256Hex(JSON.stringify([toolName, toolArgs])).slice(0, 32);
}

/** The end of a command, after its output. */
function resultOf({ textResultForLlm: said }: z.infer<typeof success>["toolResult"]): HostCallEnd {
  const code = /<shellId: \S+ completed with exit code (\d{1,3})>\s*$/.exec(typeof said === "string" ? said : "")?.[1];
  if (code === undefined) return { failed: false, message: "" };
  return { failed: code !== "0", message: code === "0" ? "" : `Exit code ${code}`, exitCode: Number(code) };
}

/** They affect only the agent's own state and its user; a sub-agent's actions come as separate calls. */
const ownTools: ReadonlySet<string> = new Set([
  "ask_user",
  "exit_plan_mode",
  "fetch_copilot_cli_documentation",
  "list_agents",
  "list_bash",
  "read_agent",
  "read_bash",
  "report_intent",
  "stop_bash",
  "task",
  "task_complete",
  "update_todo",
  "write_agent",
]);

const text = z.string();
const bash = z.looseObject({ command: text, description: text.optional(), mode: text.optional() });
const file = z.looseObject({ path: text });
const create = file.extend({ file_text: text });
const edit = file.extend({ old_str: text, new_str: text });
const find = z.looseObject({ pattern: text, paths: z.union([text, z.array(text).max(100)]).optional() });
const grep = find.extend({ glob: text.optional() });
const page = z.looseObject({ url: text });
const search = z.looseObject({ query: text });
const anyArgs = z.record(z.string(), z.unknown());

/** @param cwd undefined: the working directory is not compared */
function hostCall({ toolName: tool, toolArgs: args }: Call, cwd: string | undefined): HostCall {
  if (ownTools.has(tool)) return { type: "own" };
  switch (tool) {
    case "bash": {
      const { command, description, mode } = parsed(bash, args);
      return judged("Bash", { command, description, run_in_background: mode === "async" || undefined, cwd });
    }
    case "view":
      return judged("Read", { file_path: parsed(file, args).path }, true);
    case "glob": {
      const { pattern, paths } = parsed(find, args);
      return judged("Glob", { pattern, ...searched(paths) }, true);
    }
    case "grep":
    case "rg": {
      const { pattern, paths, glob } = parsed(grep, args);
      return judged("Grep", { pattern, ...searched(paths), glob }, true);
    }
    case "create": {
      const { path: file_path, file_text: content } = parsed(create, args);
      return judged("Write", { file_path, content });
    }
    case "edit": {
      const { path: file_path, old_str: old_string, new_str: new_string } = parsed(edit, args);
      return judged("Edit", { file_path, old_string, new_string });
    }
    case "apply_patch":
      return judged("Patch", { files: patchedFiles(parsed(text, args)) });
    case "web_fetch":
      return judged("WebFetch", { url: parsed(page, args).url });
    case "web_search":
      return judged("WebSearch", { query: parsed(search, args).query });
    default:
      // Tools of servers come by names of one form with its own.
      return { type: "judged", tool, args: parsed(anyArgs, args), readsOnly: false, server: copilot.id };
  }
}

function searched(paths: z.infer<typeof find>["paths"]): Readonly<Record<string, unknown>> {
  const [path, ...or] = typeof paths === "string" ? [paths] : (paths ?? []);
  return { path, ...(or.length === 0 ? {} : { or }) };
}
