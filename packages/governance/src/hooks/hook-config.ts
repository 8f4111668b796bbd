import { errorMessage } from "@gennai/protocol/error-message";
import * as z from "zod";

/** Points of a call at which users' programs run. */
export type HookEvent = "PreToolUse" | "PostToolUse";

/** One hook program of a user, and the tools it runs for. */
export interface HookCommand {
  readonly event: HookEvent;
  /** Matches names of tools whole; undefined: all. */
  readonly matcher: string | undefined;
  /** A line for the shell. */
  readonly command: string;
  readonly timeoutMs: number;
  /** File it comes from, for messages. */
  readonly source: string;
}

const defaultTimeoutMs = 10_000;

const entries = z
  .array(
    z.object({
      matcher: z
        .string()
        .max(1_000)
        .optional()
        .describe("Names of tools joined by `|`, `*` as a wildcard. Without it: every tool."),
      hooks: z
        .array(
          // A field that is not known, e.g. `args`, may change what runs.
          z.strictObject({
            type: z.literal("command"),
            command: z.string().min(1).max(10_000).describe("A line for `/bin/sh`, run in the workspace."),
            timeout: z.number().positive().max(600).optional().describe("Seconds; 10 without it."),
            statusMessage: z.string().optional().describe("Not shown."),
            onFailure: z.literal("block").optional().describe("So it is here without it."),
          }),
        )
        .max(100),
    }),
  )
  .max(100);

/** Other events of the format are other tools' business and stay unread. `docs/reference/settings.md` is generated from it. */
export const hooksSchema = z.object({
  hooks: z.object({
    PreToolUse: entries.optional().describe("Run before a call, and decide."),
    PostToolUse: entries.optional().describe("Run after a call, and can only comment."),
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
  const { PreToolUse: before = [], PostToolUse: after = [] } = parsed.data.hooks;
  const read = (event: HookEvent, list: z.infer<typeof entries>): readonly HookCommand[] =>
    list.flatMap(({ matcher, hooks }) => {
      assertMatcher(matcher, source);
      return hooks.map(({ command, timeout }) => ({
        event,
        matcher,
        command,
        timeoutMs: timeout === undefined ? defaultTimeoutMs : timeout * 1000,
        source,
      }));
    });
  return [...read("PreToolUse", before), ...read("PostToolUse", after)];
}

/**
 * Whether the matcher includes one of these names. A matcher is names joined by `|`, optionally with `*` or `.*`; empty and `*`
 * match every tool.
 */
export function matchesTool(matcher: string | undefined, names: readonly string[]): boolean {
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
