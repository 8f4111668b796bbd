import { homedir } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import { type GuardedHost, type HostCall } from "./guarded-host.ts";
import { patchedFiles } from "./patched-files.ts";
import { payloadReader } from "./payload-reader.ts";
import { isAfterPluginCall, judged, pluginAnswer, pluginProbe, readPluginWords } from "./plugin-words.ts";

const parsed = payloadReader("These are not arguments of opencode");

/**
 * opencode calls `tool.execute.before` before each call, which does not run if that throws, and `tool.execute.after` after a call
 * that ran. It reports a failed call by an event.
 * Version 2 loads none of that: it calls `setup`, whose hook before a call rejects it by throwing. It was not tried, so it counts as unguarded.
 */
const opencodePlugin = String.raw`
const server = async ({ client, directory, worktree }) => {
  const project = worktree && worktree !== "/" ? worktree : directory;
  // Calls that were let go on, and did not end yet.
  const open = new Set();
  // Calls after whose refusal all work ends: once it is told, for to end it at once would leave out why.
  const last = new Set();
  const stop = (id) => void client.session.abort({ path: { id } }).catch(() => undefined);
  const report = async (payload) => {
    try {
      const answer = await tell(payload, project);
      if (answer?.decision === "stop") stop(payload.session);
    } catch {
      // It has run. That nobody heard of its end is on record when the agent comes to rest.
    }
  };
  return {
    "tool.execute.before": async ({ tool, sessionID, callID }, { args }) => {
      const call = { event: "before", session: sessionID, call: callID, directory, tool, args, asks: false };
      const answer = await tell(call, project);
      if (answer === undefined) return void open.add(callID);
      if (answer.decision === "stop") last.add(callID);
      throw new Error(answer.reason || "Gennai refused it.");
    },
    "tool.execute.after": async ({ tool, sessionID, callID, args }, output) => {
      open.delete(callID);
      const code = tool === "bash" && Number.isInteger(output?.metadata?.exit) ? output.metadata.exit : undefined;
      const failed = code !== undefined && code !== 0;
      const message = failed ? "Exit code " + code : "";
      await report({ event: "after", session: sessionID, call: callID, tool, args, failed, message, exitCode: code });
    },
    event: async ({ event }) => {
      const { part, sessionID } = event.properties ?? {};
      if (event.type === "session.idle") await report({ event: "idle", session: sessionID });
      if (event.type !== "message.part.updated" || part?.type !== "tool" || part.state?.status !== "error") return;
      if (last.delete(part.callID)) stop(part.sessionID);
      if (!open.delete(part.callID)) return;
      const message = String(part.state.error).slice(0, 300);
      await report({ event: "after", session: part.sessionID, call: part.callID, failed: true, message });
    },
  };
};

const setup = async (context) => {
  // opencode 1 calls it as well, with a context without tools.
  if (typeof context?.tool?.hook !== "function") return;
  const directory = context.directory ?? process.cwd();
  const told = (event, call) => ({ event, session: call.sessionID, call: call.callID, tool: call.tool, args: call.args ?? call.input });
  await context.tool.hook("execute.before", async (call) => {
    const answer = await tell({ ...told("before", call), directory, asks: false }, directory);
    if (answer !== undefined) throw new Error(answer.reason || "Gennai refused it.");
  });
  await context.tool.hook("execute.after", async (call) => {
    const failed = call.status !== undefined && call.status !== "completed";
    await tell({ ...told("after", call), failed, message: "" }, directory).catch(() => undefined);
  });
};

export default { id: "gennai-guard", server, setup };
`;

/** opencode's tools, as the hooks of a plugin are told about them by version 1.18. */
export const opencode: GuardedHost = {
  id: "opencode",
  title: "opencode",
  // A plugin can let a call run or not. What opencode asks by itself it asks after our answer.
  asks: false,
  read: (payload) => readPluginWords(payload, "opencode", hostCall),
  isAfterCall: isAfterPluginCall,
  answer: pluginAnswer,
  hook: {
    form: { type: "plugin", source: opencodePlugin },
    probe: (filePath, directory) => pluginProbe(directory, { filePath, content: "" }),
    projectFiles: (workspace) => [join(workspace, ".opencode", "plugins", "gennai-guard.js")],
    program: "opencode",
    majors: [1],
    switches: ["OPENCODE_PURE"],
    home: ({ XDG_CONFIG_HOME, HOME }) => join(XDG_CONFIG_HOME || join(HOME || homedir(), ".config"), "opencode"),
    userFile: join("plugins", "gennai-guard.js"),
    limits: [
      "A plugin cannot make opencode ask: what would be asked about is refused, with the reason. Do it yourself then.",
      "A plugin that cannot be loaded, and all of them with --pure, are left out, and every call runs.",
      "Files (@file) and shell lines (!`line`) in a prompt reach no hook. Formatters after an edit reach none either.",
      "Other plugins are not looked at. Of a call that one of them changed you hear when it has run.",
      "Gennai sees the text of a command, not what it does: commands that are not proven to read are refused.",
      "An emergency control does not stop a command that runs already. opencode stops at its next call.",
      "apply_patch, which it offers to some models only, web pages, tools of MCP servers and sub-agents were not tried with the program itself.",
    ],
  },
};

/** They affect only the agent's own state and its user; a sub-agent's actions come as separate calls. */
const ownTools: ReadonlySet<string> = new Set([
  "invalid",
  "plan_exit",
  "question",
  "subagent",
  "task",
  "todoread",
  "todowrite",
]);

const text = z.string();
const bash = z.looseObject({ command: text, workdir: text.optional(), description: text.optional() });
const file = z.looseObject({ filePath: text });
const write = file.extend({ content: text });
const edit = file.extend({ oldString: text, newString: text, replaceAll: z.boolean().optional() });
const find = z.looseObject({ pattern: text, path: text.optional(), include: text.optional() });
const patch = z.looseObject({ patchText: text });
const page = z.looseObject({ url: text });
const search = z.looseObject({ query: text });

function hostCall(tool: string, args: Readonly<Record<string, unknown>>, directory: string | undefined): HostCall {
  if (ownTools.has(tool)) return { type: "own" };
  switch (tool) {
    case "bash":
    case "shell": {
      const { command, workdir, description } = parsed(bash, args);
      const cwd = directory === undefined ? undefined : startsIn(workdir, directory);
      return judged("Bash", { command, description, cwd });
    }
    case "read":
      return judged("Read", { file_path: parsed(file, args).filePath }, true);
    case "glob": {
      const { pattern, path } = parsed(find, args);
      return judged("Glob", { pattern, path }, true);
    }
    case "grep": {
      const { pattern, path, include: glob } = parsed(find, args);
      return judged("Grep", { pattern, path, glob }, true);
    }
    case "write": {
      const { filePath: file_path, content } = parsed(write, args);
      return judged("Write", { file_path, content });
    }
    case "edit": {
      const { filePath: file_path, oldString: old_string, newString: new_string, replaceAll } = parsed(edit, args);
      return judged("Edit", { file_path, old_string, new_string, replace_all: replaceAll });
    }
    case "apply_patch":
      return judged("Patch", { files: patchedFiles(parsed(patch, args).patchText) });
    case "webfetch":
      return judged("WebFetch", { url: parsed(page, args).url });
    case "websearch":
      return judged("WebSearch", { query: parsed(search, args).query });
    default:
      // Tools of servers come by names of one form with its own.
      return { type: "judged", tool, args, readsOnly: false, server: opencode.id };
  }
}

function startsIn(workdir: string | undefined, directory: string): string {
  if (workdir === undefined) return directory;
  return workdir.startsWith("/") ? workdir : `${directory}/${workdir}`;
}
