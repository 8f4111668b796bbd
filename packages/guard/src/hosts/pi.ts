import { homedir } from "node:os";
import { join } from "node:path";
import * as z from "zod";
import { type GuardedHost, type HostCall, UnreadableHookInput } from "./guarded-host.ts";
import { payloadReader } from "./payload-reader.ts";
import { isAfterPluginCall, judged, pluginAnswer, pluginProbe, readPluginWords } from "./plugin-words.ts";

const parsed = payloadReader("These are not arguments of pi");

/** pi calls `tool_call` handlers before each call, and blocks it if one fails; it calls those of `tool_result` after each. */
const piExtension = String.raw`
const hidden = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
const shown = (value) => {
  const text = JSON.stringify(value).replace(hidden, (one) => "\\u{" + one.codePointAt(0).toString(16) + "}");
  return text.length > 4_000 ? text.slice(0, 4_000) + "… (" + text.length + " characters)" : text;
};

export default function (pi) {
  const idOf = (ctx) => ctx.sessionManager.getSessionId();
  const report = async (payload, ctx) => {
    try {
      const answer = await tell(payload, ctx.cwd);
      if (answer?.decision !== "stop") return;
      if (ctx.hasUI) ctx.ui.notify(answer.reason, "error");
      ctx.abort();
    } catch {
      // It has run. That nobody heard of its end is on record when the agent comes to rest.
    }
  };
  pi.on("tool_call", async ({ toolCallId: call, toolName: tool, input: args }, ctx) => {
    const session = idOf(ctx);
    const payload = { event: "before", session, call, directory: ctx.cwd, tool, args, asks: ctx.hasUI === true };
    const answer = await tell(payload, ctx.cwd);
    if (answer === undefined) return undefined;
    const { decision, reason = "Gennai refused it." } = answer;
    if (decision === "ask") {
      const yes = await ctx.ui.confirm("May pi do this? " + tool, shown(args) + "\n\n" + reason);
      if (yes === true) return undefined;
      await report({ event: "after", session, call, failed: true, message: "Its user said no." }, ctx);
      return { block: true, reason: "The user said no. " + reason };
    }
    return { block: true, reason, terminate: decision === "stop" };
  });
  pi.on("tool_result", async ({ toolCallId: call, toolName: tool, input: args, content, isError }, ctx) => {
    const text = content.find((part) => part.type === "text")?.text ?? "";
    const message = isError ? text.slice(-300) : "";
    const code = tool === "bash" ? /Command exited with code (\d{1,3})\s*$/.exec(message)?.[1] : undefined;
    const exitCode = code === undefined ? undefined : Number(code);
    await report({ event: "after", session: idOf(ctx), call, tool, args, failed: isError, message, exitCode }, ctx);
  });
  for (const event of ["agent_settled", "session_shutdown"]) {
    pi.on(event, async (_event, ctx) => report({ event: "idle", session: idOf(ctx) }, ctx));
  }
}
`;

/** pi's tools, as an extension is told about them by version 0.87. */
export const pi: GuardedHost = {
  id: "pi",
  title: "pi",
  // Each call reports whether a user is there.
  asks: false,
  read: (payload) => readPluginWords(payload, "pi", hostCall),
  isAfterCall: isAfterPluginCall,
  answer: pluginAnswer,
  hook: {
    form: { type: "plugin", source: piExtension },
    probe: (path, directory) => pluginProbe(directory, { path, content: "" }),
    projectFiles: (workspace) => [join(workspace, ".pi", "extensions", "gennai-guard.js")],
    program: "pi",
    majors: [0, 1],
    home: ({ PI_CODING_AGENT_DIR, HOME }) => PI_CODING_AGENT_DIR || join(HOME || homedir(), ".pi", "agent"),
    userFile: join("extensions", "gennai-guard.js"),
    nextStep:
      "pi loads no extension of a project that its user has not trusted: say yes when it asks, or install it with --user.",
    limits: [
      "In a project that is not trusted, and with --no-extensions, pi leaves it out, and every call runs.",
      "Where nobody can be asked (pi -p, --mode json), what would be asked about is refused, with the reason.",
      "A line that you type with ! is yours, and reaches no hook; neither do files named with @ in a prompt.",
      "Another extension may change a call after it was judged. You hear of it when the call has run.",
      "Gennai sees the text of a command, not what it does. Commands not proven to read are asked about.",
      "An emergency control does not stop a command that runs already. pi stops at its next call.",
      "Not tried with the program: its tools grep and find, and its window. The question was tried in RPC mode.",
    ],
  },
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
