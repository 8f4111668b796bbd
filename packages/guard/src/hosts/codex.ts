import { homedir } from "node:os";
import { dirname, join } from "node:path";
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
import { isEventBut, payloadReader } from "./payload-reader.ts";

const parsed = payloadReader("This is not a message that Codex tells a hook");

/** Events for which the hook is put in place. Of others it is never told. */
export const codexEvents = ["PreToolUse", "PostToolUse", "Stop"] as const;

const id = z.string().min(1).max(200);
const input = z.looseObject({ session_id: id, hook_event_name: z.string() });
const call = z.looseObject({
  cwd: z.string().min(1).max(4096),
  tool_name: z.string().min(1).max(200),
  tool_use_id: id,
  tool_input: z.record(z.string(), z.unknown()),
});
const end = call.partial({ cwd: true });
const command = z.looseObject({ command: z.string() });
const image = z.looseObject({ path: z.string() });

/** It reports only the output of a command, not how it ended. */
const ended: HostCallEnd = { failed: false, message: "" };

const trust = "Codex runs no hook that its user has not trusted: open /hooks in Codex, and trust these.";

const managedHooks = z.object({
  hooks: z.record(
    z.string().regex(/^\w+$/),
    z.array(
      z.object({
        matcher: z.string().optional(),
        hooks: z.array(z.object({ type: z.string(), command: z.string(), timeout: z.number() })),
      }),
    ),
  ),
});

/** Codex's file for administrators. */
const managedFile = "/etc/codex/requirements.toml";

/**
 * The same hooks in TOML, whose strings may be written as JSON's. Such hooks need no trust of the user, who cannot switch off the
 * feature either. Some releases leave them out unless they name a directory that exists.
 */
function requirements(settings: unknown): string {
  const { hooks } = managedHooks.parse(settings);
  const said = ([key, value]: readonly [string, unknown]): string => `${key} = ${JSON.stringify(value)}\n`;
  const groups = Object.entries(hooks).flatMap(([event, list]) =>
    list.map(
      ({ matcher, hooks: each }) =>
        `\n[[hooks.${event}]]\n${matcher === undefined ? "" : said(["matcher", matcher])}` +
        each.map((hook) => `[[hooks.${event}.hooks]]\n${Object.entries(hook).map(said).join("")}`).join(""),
    ),
  );
  return [
    "allow_managed_hooks_only = true\n\n[hooks]\n",
    said(["managed_dir", dirname(managedFile)]),
    ...groups,
    "\n[features]\nhooks = true\n",
  ].join("");
}

/** Codex's hooks, as its page on hooks describes them and version 0.169 sends them: Claude Code's words, but for what differs here. */
export const codex: GuardedHost = {
  id: "codex",
  title: "Codex",
  // If a hook answers `ask`, Codex treats the hook as failed, and the call continues.
  asks: false,
  hook: {
    form: { type: "settings", events: codexEvents, before: ["PreToolUse"] },
    probe: (file, cwd) => ({
      session_id: probeSession,
      hook_event_name: "PreToolUse",
      cwd,
      tool_name: "apply_patch",
      tool_use_id: crypto.randomUUID(),
      tool_input: { command: `*** Begin Patch\n*** Add File: ${file}\n+\n*** End Patch\n` },
    }),
    projectFiles: (workspace) => [join(workspace, ".codex", "hooks.json")],
    program: "codex",
    majors: [0],
    home: ({ CODEX_HOME, HOME }) => CODEX_HOME || join(HOME || homedir(), ".codex"),
    userFile: "hooks.json",
    managed: { file: managedFile, text: requirements },
    nextStep: trust,
    nextStepOfUser: trust,
    limits: [
      "A hook cannot make Codex ask: what would be asked about is refused, with the reason. Do it yourself then.",
      "Text typed into a running command (write_stdin) reaches no hook. Commands that could act on it are refused at their start.",
      "It does not say how a command ended, and of some that write files not even that they did.",
      "Gennai sees the text of a command, not what it does: commands that are not proven to read are refused.",
      "A command that runs already is not stopped by an emergency control.",
    ],
    limitsUnmanaged: [
      "Until its user trusts the hook in /hooks, Codex leaves it out and runs every call.",
      "Hooks in config.toml, of plugins and of an organisation are not looked at, nor whether hooks are switched off there.",
    ],
  },

  read(payload): HostEvent {
    const { session_id: session, hook_event_name: event } = parsed(input, payload);
    switch (event) {
      case "PreToolUse": {
        const { cwd, tool_name: name, tool_use_id: callId, tool_input: args } = parsed(call, payload);
        return { type: "before", session, callId, directory: cwd, call: hostCall(name, args, cwd) };
      }
      case "PostToolUse": {
        const { tool_use_id: callId, tool_name: name, tool_input: args } = parsed(end, payload);
        return { type: "after", session, callId, end: ended, ran: hostCall(name, args, undefined) };
      }
      case "Stop":
        return { type: "idle", session };
      default:
        return { type: "other" };
    }
  },

  isAfterCall: isEventBut(["PreToolUse"], codexEvents),

  answer(verdict): HostAnswer | undefined {
    // Before a call it knows nothing of an end to all work: each call is denied for itself.
    if (verdict.type === "stop" && !verdict.before) return { continue: false, stopReason: verdict.reason };
    if (verdict.type === "allow") return undefined;
    return {
      hookSpecificOutput: {
        hookEventName: "PreToolUse",
        permissionDecision: "deny",
        permissionDecisionReason: verdict.reason,
      },
    };
  },
};

function hostCall(name: string, args: Readonly<Record<string, unknown>>, cwd: string | undefined): HostCall {
  const judged = (tool: string, given: Readonly<Record<string, unknown>>, readsOnly = false): HostCall => ({
    type: "judged",
    tool,
    args: given,
    readsOnly,
  });
  switch (name) {
    case "Bash": {
      const { command: typed } = parsed(command, args);
      return judged("Bash", { command: typed, ...(cwd === undefined ? {} : { cwd }) });
    }
    case "apply_patch":
      return judged("Patch", { files: patchedFiles(parsed(command, args).command) });
    case "view_image":
      return judged("Read", { file_path: parsed(image, args).path }, true);
    default: {
      const server = /^mcp__(.+?)__./.exec(name)?.[1];
      return { type: "judged", tool: name, args, readsOnly: false, server: server ?? codex.id };
    }
  }
}
