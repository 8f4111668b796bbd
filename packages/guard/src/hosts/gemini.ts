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
  UnreadableHookInput,
} from "./guarded-host.ts";
import { isEventBut, payloadReader } from "./payload-reader.ts";
import { judged } from "./plugin-words.ts";

const parsed = payloadReader("This is not a message that Gemini CLI tells a hook");

/** Events for which the hook is put in place. Of others it is never told. */
export const geminiEvents = ["BeforeTool", "AfterTool", "AfterAgent", "SessionEnd"] as const;

const input = z.looseObject({ session_id: z.string().min(1).max(200), hook_event_name: z.string() });
const call = z.looseObject({
  cwd: z.string().min(1).max(4096),
  tool_name: z.string().min(1).max(200),
  tool_input: z.record(z.string(), z.unknown()),
  mcp_context: z.looseObject({ server_name: z.string().min(1).max(200) }).optional(),
});
const response = z.looseObject({
  llmContent: z.unknown(),
  error: z.looseObject({ message: z.string() }).optional(),
});
const end = call.extend({ tool_response: response });
type Call = z.infer<typeof call>;

/** Gemini CLI takes exit code 2 as a refusal only if there is a message. */
const saidRefusal = "{ echo 'The hook of Gennai failed, so nothing is done.' >&2; exit 2; }";

/** Gemini CLI's hooks, as its reference on hooks describes them and version 0.61 sends them. */
export const gemini: GuardedHost = {
  id: "gemini",
  title: "Gemini CLI",
  // Gemini accepts `ask`, but then waits for ever if no user sees the question, and hooks cannot know that.
  asks: false,
  namesCalls: false,
  hook: {
    form: { type: "settings", events: geminiEvents, before: ["BeforeTool"], second: 1_000, refusal: saidRefusal },
    probe: (file, cwd) => ({
      session_id: probeSession,
      hook_event_name: "BeforeTool",
      cwd,
      tool_name: "write_file",
      tool_input: { file_path: file, content: "" },
    }),
    // The agent reads the settings of the directory in which it was started, and starts hooks there.
    saysProject: true,
    projectFiles: (workspace) => [join(workspace, ".gemini", "settings.json")],
    program: "gemini",
    majors: [0],
    home: ({ GEMINI_CLI_HOME, HOME }) => join(GEMINI_CLI_HOME || HOME || homedir(), ".gemini"),
    userFile: "settings.json",
    limits: [
      "In a directory that is not trusted, also with --skip-trust, it leaves all hooks out, and every call runs.",
      "By its reference, a hook that is too slow does not stop a call. hooksConfig switches all hooks off.",
      "A hook's question waits for ever where nobody sees it (gemini -p). So what would be asked about is refused. Do it yourself then.",
      "Gennai sees the text of a command, not what it does. Commands not proven to read, and sub-agents, are refused.",
      "A file named with @ and a line typed with ! reach no hook. In an editor (gemini --acp) it starts no hooks.",
      "Hooks of extensions and of an organisation are not looked at. A settings file with comments is left alone.",
      "An emergency control does not stop a command that runs already. Gemini CLI stops at its next call.",
      "Its window, web pages, sub-agents and tools of MCP servers were not tried with the program itself.",
    ],
  },

  read(payload): HostEvent {
    const { session_id: session, hook_event_name: event } = parsed(input, payload);
    switch (event) {
      case "BeforeTool": {
        const told = parsed(call, payload);
        return { type: "before", session, callId: idOf(told), directory: told.cwd, call: hostCall(told, told.cwd) };
      }
      case "AfterTool": {
        const told = parsed(end, payload);
        const ended = callEnd(told.tool_response);
        return { type: "after", session, callId: idOf(told), end: ended, ran: hostCall(told, undefined) };
      }
      case "AfterAgent":
      case "SessionEnd":
        return { type: "idle", session };
      default:
        return { type: "other" };
    }
  },

  isAfterCall: isEventBut(["BeforeTool"], geminiEvents),

  answer(verdict): HostAnswer | undefined {
    const { type } = verdict;
    if (type === "allow") return undefined;
    const { reason } = verdict;
    return type === "stop" ? { continue: false, stopReason: reason } : { decision: "deny", reason };
  },
};

/** Gemini gives calls no ids: the content identifies them. */
function idOf({ tool_name, tool_input }: Call): string {
  return sha256Hex(JSON.stringify([tool_name, tool_input])).slice(0, 32);
}

/** They reach nothing but the agent's own state and its user. */
const ownTools: ReadonlySet<string> = new Set([
  "ask_user",
  "complete_task",
  "enter_plan_mode",
  "exit_plan_mode",
  "get_internal_docs",
  "list_mcp_resources",
  "update_topic",
  "write_todos",
]);

const text = z.string();
const shell = z.looseObject({
  command: text,
  description: text.optional(),
  dir_path: text.optional(),
  is_background: z.boolean().optional(),
  additional_permissions: z.unknown().optional(),
});
const file = z.looseObject({ file_path: text });
const write = file.extend({ content: text });
const edit = file.extend({ old_string: text, new_string: text, allow_multiple: z.boolean().optional() });
const list = z.looseObject({ dir_path: text.optional() });
const find = list.extend({ pattern: text });
const grep = find.extend({ include_pattern: text.optional() });
const search = z.looseObject({ query: text });

/** @param cwd undefined: the working directory is not compared */
function hostCall({ tool_name: tool, tool_input: args, mcp_context }: Call, cwd: string | undefined): HostCall {
  if (mcp_context !== undefined)
    return { type: "judged", tool, args, readsOnly: false, server: mcp_context.server_name };
  if (ownTools.has(tool)) return { type: "own" };
  switch (tool) {
    case "run_shell_command": {
      const { command, description, dir_path, is_background: run_in_background, ...more } = parsed(shell, args);
      // Its own sandbox is widened for this command.
      const dangerouslyDisableSandbox = more.additional_permissions === undefined ? undefined : true;
      const from = cwd === undefined ? undefined : startsIn(dir_path, cwd);
      return judged("Bash", { command, description, run_in_background, dangerouslyDisableSandbox, cwd: from });
    }
    case "read_file":
      return judged("Read", { file_path: meant(parsed(file, args).file_path) }, true);
    case "list_directory":
      return judged("LS", { path: meantIfAny(parsed(list, args).dir_path) }, true);
    case "glob": {
      const { pattern, dir_path } = parsed(find, args);
      return judged("Glob", { pattern, path: meantIfAny(dir_path) }, true);
    }
    case "grep_search": {
      const { pattern, dir_path, include_pattern: glob } = parsed(grep, args);
      return judged("Grep", { pattern, path: meantIfAny(dir_path), glob }, true);
    }
    case "write_file": {
      const { file_path, content } = parsed(write, args);
      return judged("Write", { file_path: meant(file_path), content });
    }
    case "replace": {
      const { file_path, old_string, new_string, allow_multiple: replace_all } = parsed(edit, args);
      const path = meant(file_path);
      // A missing file is searched for below all directories, and another file of that name is changed.
      const mustExist = path.startsWith("/") ? undefined : true;
      return judged("Edit", { file_path: path, old_string, new_string, replace_all, mustExist });
    }
    case "google_web_search":
      return judged("WebSearch", { query: parsed(search, args).query });
    default:
      return { type: "judged", tool, args, readsOnly: false, server: gemini.id };
  }
}

function startsIn(given: string | undefined, cwd: string): string {
  if (given === undefined || given === "") return cwd;
  return given.startsWith("/") ? given : `${cwd}/${given}`;
}

/** If no such file exists, Gemini removes a leading `@` from a path. */
function meant(path: string): string {
  if (!path.startsWith("@")) return path;
  throw new UnreadableHookInput("A path that begins with @ may mean two places: write it from / on.");
}

function meantIfAny(path: string | undefined): string | undefined {
  return path === undefined || path === "" ? undefined : meant(path);
}

/** The end of a failed command, after its output: `Exit Code: 1`. */
function callEnd({ llmContent, error }: z.infer<typeof response>): HostCallEnd {
  const said = typeof llmContent === "string" ? llmContent : "";
  const code = [...said.matchAll(/^Exit Code: (\d{1,3})$/gm)].at(-1)?.[1];
  const failed = error !== undefined || (code !== undefined && code !== "0");
  const message = failed ? (error?.message ?? `Exit code ${code}`).slice(0, 300) : "";
  return { failed, message, ...(code === undefined ? {} : { exitCode: Number(code) }) };
}
