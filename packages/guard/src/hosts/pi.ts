import * as z from "zod";
import { type GuardedHost, type HostCall, UnreadableHookInput } from "./guarded-host.ts";
import { payloadReader } from "./payload-reader.ts";
import { isAfterPluginCall, judged, pluginAnswer, readPluginWords } from "./plugin-words.ts";

const parsed = payloadReader("These are not arguments of pi");

/** pi's tools, as an extension is told about them by version 0.87. */
export const pi: GuardedHost = {
  id: "pi",
  title: "pi",
  // Each call reports whether a user is there.
  asks: false,
  read: (payload) => readPluginWords(payload, "pi", hostCall),
  isAfterCall: isAfterPluginCall,
  answer: pluginAnswer,
};

const text = z.string();
const bash = z.looseObject({ command: text });
const file = z.looseObject({ path: text });
const write = file.extend({ content: text });
const edit = file.extend({ edits: z.array(z.looseObject({ oldText: text, newText: text })).max(10_000) });
const list = z.looseObject({ path: text.optional() });
const find = list.extend({ pattern: text });
const grep = find.extend({ glob: text.optional() });

function hostCall(tool: string, args: Readonly<Record<string, unknown>>, directory: string | undefined): HostCall {
  switch (tool) {
    case "bash":
      return judged("Bash", { command: parsed(bash, args).command, cwd: directory });
    case "read": {
      const path = meant(parsed(file, args).path);
      return judged("Read", { file_path: path, or: otherNames(path) }, true);
    }
    case "ls":
      return judged("LS", { path: meantIfAny(parsed(list, args).path) }, true);
    case "find": {
      const { pattern, path } = parsed(find, args);
      return judged("Glob", { pattern, path: meantIfAny(path) }, true);
    }
    case "grep": {
      const { pattern, path, glob } = parsed(grep, args);
      return judged("Grep", { pattern, path: meantIfAny(path), glob }, true);
    }
    case "write": {
      const { path, content } = parsed(write, args);
      return judged("Write", { file_path: meant(path), content });
    }
    case "edit": {
      const { path, edits } = parsed(edit, args);
      const replaced = edits.map(({ oldText: old_string, newText: new_string }) => ({ old_string, new_string }));
      return judged("MultiEdit", { file_path: meant(path), edits: replaced });
    }
    default:
      return { type: "judged", tool, args, readsOnly: false, server: pi.id };
  }
}

/** Spaces of all kinds are plain ones to it, and one `@` before a path does not belong to the path. */
function meant(path: string): string {
  const plain = path.replaceAll(/[\u00a0\u2000-\u200a\u202f\u205f\u3000]/g, " ").replace(/^@/, "");
  if (!plain.startsWith("file:")) return plain;
  throw new UnreadableHookInput("A path is to be written as a path, not as an address.");
}

/** An empty path is the working directory. */
function meantIfAny(path: string | undefined): string | undefined {
  return path === undefined || path === "" ? undefined : meant(path);
}

/** Names that it reads where the first is not there, such as macOS gives to pictures of the screen; undefined: none. */
function otherNames(path: string): readonly string[] | undefined {
  const decomposed = path.normalize("NFD");
  const names = [path.replaceAll(/ (AM|PM)\./gi, "\u202f$1."), decomposed, ...[path, decomposed].map(curly)];
  const others = [...new Set(names)].filter((name) => name !== path);
  return others.length === 0 ? undefined : others;
}

function curly(path: string): string {
  return path.replaceAll("'", "\u2019");
}
