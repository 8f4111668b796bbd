import * as z from "zod";
import { type GuardedHost, type HostCall } from "./guarded-host.ts";
import { patchedFiles } from "./patched-files.ts";
import { payloadReader } from "./payload-reader.ts";
import { isAfterPluginCall, judged, pluginAnswer, readPluginWords } from "./plugin-words.ts";

const parsed = payloadReader("These are not arguments of opencode");

/** opencode's tools, as the hooks of a plugin are told about them by version 1.18. */
export const opencode: GuardedHost = {
  id: "opencode",
  title: "opencode",
  // A plugin can let a call run or not. What opencode asks by itself it asks after our answer.
  asks: false,
  read: (payload) => readPluginWords(payload, "opencode", hostCall),
  isAfterCall: isAfterPluginCall,
  answer: pluginAnswer,
};

/** They affect only the agent's own state and its user; a sub-agent's actions come as separate calls. */
const ownTools: ReadonlySet<string> = new Set(["invalid", "plan_exit", "question", "task", "todoread", "todowrite"]);

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
    case "bash": {
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
