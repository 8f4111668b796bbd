import { errorMessage } from "@gennai/protocol/error-message";
import * as z from "zod";

/**
 * Points at which users' programs run, by Claude Code's contract (https://code.claude.com/docs/en/hooks), which says what each is
 * told and what it may answer. `decides`: what it tells of does not happen if it refuses or fails.
 */
export const hookEvents = {
  SessionStart: { about: "Run with the first prompt of a session here, and after it was cleared or compacted." },
  SessionEnd: { about: "Run when a session is cleared, deleted or closed." },
  ConfigChange: {
    decides: true,
    about: "Run before a turn that finds settings changed since the last one, and decide.",
  },
  UserPromptSubmit: { decides: true, about: "Run before a prompt starts a turn or joins one, and decide." },
  PreToolUse: { decides: true, about: "Run before a call, and decide; they may change its arguments." },
  PostToolUse: { about: "Run after a call that succeeded, and can only comment." },
  PostToolUseFailure: { about: "Run after a call that failed, and can only comment." },
  PermissionDenied: { about: "Run after a call was refused, and can only comment." },
  Notification: { about: "Run when a question waits for a person." },
  Stop: { decides: true, about: "Run when the agent wants to end its turn; they may have it go on." },
  SubagentStop: { decides: true, about: "The same for a sub-agent." },
  PreCompact: { decides: true, about: "Run before the conversation is compacted, and decide." },
} as const satisfies Readonly<Record<string, { readonly decides?: true; readonly about: string }>>;

export type HookEvent = keyof typeof hookEvents;

/** Their hooks always run: there is nothing that a matcher could name. */
const unmatched: ReadonlySet<string> = new Set(["UserPromptSubmit", "Stop"] satisfies HookEvent[]);

/** One hook program of a user, and the tools it runs for. */
export interface HookCommand {
  readonly event: HookEvent;
  /** Matches names whole, of tools or of what the event is about; undefined: all. */
  readonly matcher: string | undefined;
  /** A line for the shell. */
  readonly command: string;
  readonly timeoutMs: number;
  /** File it comes from, for messages. */
  readonly source: string;
}

const defaultTimeoutMs = 10_000;

const fields = {
  type: z.literal("command"),
  command: z.string().min(1).max(10_000).describe("A line for `/bin/sh`, run in the workspace."),
  timeout: z.number().positive().max(600).optional().describe("Seconds; 10 without it."),
  statusMessage: z.string().optional().describe("Not shown."),
};
// A field that is not known, e.g. `args`, may change what runs.
const deciding = z.strictObject({
  ...fields,
  onFailure: z.literal("block").optional().describe("So it is here without it."),
});
// Whoever writes `onFailure` there would rely on what cannot be: what such a program is told of has happened.
const looking = z.strictObject(fields, {
  error: ({ code, keys }) =>
    code === "unrecognized_keys" && keys.includes("onFailure")
      ? "leave out onFailure: a hook of this event only looks on, so its failure blocks nothing"
      : undefined,
});

const entries = <Hook extends z.ZodType>(hook: Hook) =>
  z
    .array(
      z.object({
        matcher: z.string().max(1_000).optional().describe("Names joined by `|`, `*` as a wildcard. Without it: all."),
        hooks: z.array(hook).max(100),
      }),
    )
    .max(100);

const of = (event: HookEvent) =>
  entries("decides" in hookEvents[event] ? deciding : looking)
    .optional()
    .describe(hookEvents[event].about);

/** Other events of the format are other tools' business and stay unread. `docs/reference/settings.md` is generated from it. */
export const hooksSchema = z.object({
  hooks: z.object({
    SessionStart: of("SessionStart"),
    SessionEnd: of("SessionEnd"),
    ConfigChange: of("ConfigChange"),
    UserPromptSubmit: of("UserPromptSubmit"),
    PreToolUse: of("PreToolUse"),
    PostToolUse: of("PostToolUse"),
    PostToolUseFailure: of("PostToolUseFailure"),
    PermissionDenied: of("PermissionDenied"),
    Notification: of("Notification"),
    Stop: of("Stop"),
    SubagentStop: of("SubagentStop"),
    PreCompact: of("PreCompact"),
  }),
});

/**
 * Reads a hooks file in Claude Code's format: `{"hooks":{"PreToolUse":[{"matcher":"Bash|Write","hooks":[{"type":"command",
 * "command":"…","timeout":10}]}]}}`. Throws `Error` with the file and the field.
 */
export function parseHooks(text: string, source: string): readonly HookCommand[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`${source}: is not JSON: ${errorMessage(error)}`);
  }
  const parsed = hooksSchema.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new Error(`${source}: ${issue?.path.join(".") ?? ""}: ${issue?.message ?? "is not valid"}`);
  }
  return hookCommands(parsed.data.hooks, source);
}

/** The programs of a hooks file that has its shape. Throws `Error` for a matcher that would match nothing. */
export function hookCommands(events: z.infer<typeof hooksSchema>["hooks"], source: string): readonly HookCommand[] {
  const read = (event: HookEvent): readonly HookCommand[] =>
    (events[event] ?? []).flatMap(({ matcher, hooks }) => {
      assertMatcher(matcher, source);
      return hooks.map(({ command, timeout }) => ({
        event,
        matcher: unmatched.has(event) ? undefined : matcher,
        command,
        timeoutMs: timeout === undefined ? defaultTimeoutMs : timeout * 1000,
        source,
      }));
    });
  return hooksSchema.shape.hooks.keyof().options.flatMap(read);
}

/**
 * Whether the matcher includes one of these names. A matcher is names joined by `|`, optionally with `*` or `.*`; empty and `*`
 * match all.
 */
export function matchesHook(matcher: string | undefined, names: readonly string[]): boolean {
  if (matcher === undefined || matcher === "" || matcher === "*") return true;
  return matcher.split("|").some((pattern) => names.some((name) => wildcard(pattern.trim(), name)));
}

/** Not a regular expression: one from a foreign file could take for ever. */
function wildcard(pattern: string, name: string): boolean {
  const parts = pattern.replaceAll(".*", "*").split("*");
  const [first = "", ...rest] = parts;
  if (rest.length === 0) return pattern === name;
  const last = rest.pop() ?? "";
  if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length) return false;
  let at = first.length;
  for (const part of rest) {
    const found = name.indexOf(part, at);
    if (found === -1 || found + part.length > name.length - last.length) return false;
    at = found + part.length;
  }
  return true;
}

/** A hook that would silently never run protects nothing. */
function assertMatcher(matcher: string | undefined, source: string): void {
  if (matcher === undefined || /^[\w .*|-]*$/.test(matcher)) return;
  throw new Error(
    `${source}: the matcher ${JSON.stringify(matcher)} is not names joined by "|", with "*" as a wildcard`,
  );
}
