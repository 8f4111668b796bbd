import { sha256Hex } from "@gennai/protocol/digest";
import type { GuardedFormat } from "./guarded-file.ts";
import type { HookProgram } from "./hook-program.ts";

/** A file of ours alone, in a directory from which an agent loads plugins. */
export function guardPlugin(agent: string, program: HookProgram, body: string): GuardedFormat {
  const source = pluginSource(agent, program, body);
  const holdsOurs = (text: string): boolean => ours.exec(text)?.[1] === agent;
  return {
    holdsOurs,
    startsAnother: (text) => holdsOurs(text) && text !== source,
    amiss: (text) => (text === source ? [] : ["the whole file"]),
    withOurs(text) {
      if (text !== "" && !holdsOurs(text)) throw new Error("it was not written by Gennai");
      return source;
    },
    // A file with this first line has nothing of others in it.
    withoutOurs: () => undefined,
    surroundings: () => ({ problems: [], foreign: [] }),
  };
}

const ours =
  /^\/\/ Written by `gennai guard install ([a-z-]+)`, and taken away by `gennai guard uninstall \1`\. [0-9a-f]{64}\n/;

function pluginSource(agent: string, { environment, words }: HookProgram, body: string): string {
  const code = `import { spawn } from "node:child_process";

const environment = ${JSON.stringify(environment)};
const words = ${JSON.stringify(words)};
${telling}
${body}`;
  const first = `// Written by \`gennai guard install ${agent}\`, and taken away by \`gennai guard uninstall ${agent}\`. ${sha256Hex(code)}`;
  return `${first}\n${code}`;
}

/** Plain JavaScript: it must run in Bun, in Node and through TypeScript loaders. */
const telling = String.raw`
// Asks the gate. Undefined: nothing speaks against the call. Rejects where nobody could judge it: then it must not run.
function tell(payload, project) {
  return new Promise((resolve, reject) => {
    const told = { GENNAI_GUARD_PROJECT: environment.GENNAI_GUARD_PROJECT || project };
    const hook = spawn(words[0], words.slice(1), {
      cwd: project,
      env: { ...process.env, ...environment, ...told },
      stdio: ["pipe", "pipe", "pipe"],
    });
    const late = setTimeout(() => hook.kill("SIGKILL"), 45_000);
    let said = "";
    let complained = "";
    hook.stdout.setEncoding("utf8").on("data", (text) => (said += text));
    hook.stderr.setEncoding("utf8").on("data", (text) => (complained += text));
    // A hook that never reads is told by its exit code.
    hook.stdin.on("error", () => undefined);
    hook.on("error", (error) => {
      clearTimeout(late);
      reject(new Error("Gennai guards this agent and its hook cannot be started: " + error.message));
    });
    hook.on("close", (code) => {
      clearTimeout(late);
      if (code !== 0) return reject(new Error(complained.trim() || "Gennai's hook failed (" + code + ")."));
      try {
        resolve(said.trim() === "" ? undefined : JSON.parse(said));
      } catch {
        reject(new Error("Gennai's hook answered something that cannot be read."));
      }
    });
    hook.stdin.end(JSON.stringify(payload));
  });
}
`;

/**
 * opencode calls `tool.execute.before` before each call, which does not run if that throws, and `tool.execute.after` after a call
 * that ran. It reports a failed call by an event.
 */
export const opencodePlugin = String.raw`
export const GennaiGuard = async ({ client, directory, worktree }) => {
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
`;

/** pi calls `tool_call` handlers before each call, and blocks it if one fails; it calls those of `tool_result` after each. */
export const piExtension = String.raw`
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
