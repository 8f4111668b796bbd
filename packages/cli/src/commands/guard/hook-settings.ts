import { isDeepStrictEqual } from "node:util";
import * as z from "zod";
import type { GuardedFormat } from "./guarded-file.ts";

/** A settings file of an agent, parsed. */
type Settings = Readonly<Record<string, unknown>>;

/** What is put into an agent's settings. */
export interface HookEntry {
  /** Shell commands that the agent starts, by event. */
  readonly commands: Readonly<Record<string, string>>;
  /** Time limit in the agent's own unit. */
  readonly timeout: number;
  /** Further fields of the hook of an event. */
  readonly more?: Readonly<Record<string, Settings>>;
  /** Hooks are directly in the list of an event, as in Copilot CLI. */
  readonly flat?: true;
}

/** Recognizes our commands, whatever program file they start, by the whole form that `install` writes. */
const ours =
  /^(?:[A-Z0-9_]+=(?:'(?:[^']|'\\'')*')? )*(?:'(?:[^']|'\\'')*' )+guard hook [a-z-]+ \|\| (?:exit [12]|\{ echo '[^']*' >&2; exit 2; \})$/;

/** Whether it is a command that `install` wrote, here or elsewhere. */
export function isOurCommand(command: string): boolean {
  return ours.test(command);
}

/** Switches for hooks in the settings of Gemini CLI. */
const switches = z.object({ enabled: z.boolean().optional(), disabled: z.array(z.string()).optional() });

/** Names in the `env` of settings that decide which program a hook is, and how it behaves. */
const steering =
  /^(?:(?:NODE|GENNAI|LD|DYLD|PERL).*|PATH|PWD|HOME|XDG_(?:STATE|CONFIG)_HOME|ENV|SHELL|BASH_ENV|CLAUDE_(?:CONFIG_DIR|PROJECT_DIR|CODE_(?:SIMPLE|SAFE_MODE|SHELL.*)))$/;

/** Events whose hooks can change a call, or answer its question. */
const judging: ReadonlySet<string> = new Set([
  "PreToolUse",
  "PermissionRequest",
  "BeforeTool",
  "preToolUse",
  "permissionRequest",
]);

/** Hooks in a JSON settings file, as in Claude Code, Codex, Copilot CLI and Gemini CLI. */
export function hookSettings(entry: HookEntry): GuardedFormat {
  return {
    holdsOurs: (text) => ourCommands(parsed(text)).size > 0,
    startsAnother: (text) =>
      [...ourCommands(parsed(text))].some(([event, command]) => command !== entry.commands[event]),
    amiss: (text) => eventsAmiss(parsed(text), entry),
    withOurs: (text) => written(withHook(parsed(text), entry)),
    withoutOurs(text, wasThere) {
      const rest = withoutHook(parsed(text));
      return Object.keys(rest).length === 0 && !wasThere ? undefined : written(rest);
    },
    surroundings(text) {
      const settings = parsed(text);
      return { off: switchedOffIn(settings), problems: problemsIn(settings), foreign: foreignHooks(settings) };
    },
  };
}

function written(settings: Settings): string {
  return `${JSON.stringify(settings, undefined, 2)}\n`;
}

function parsed(text: string): Settings {
  if (text.trim() === "") return {};
  const value: unknown = JSON.parse(text);
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  throw new Error("it holds no JSON object");
}

/** The settings with our hook for each event, once, after those of others. Throws for settings of another shape. */
function withHook(settings: Settings, entry: HookEntry): Settings {
  const clean = withoutHook(settings);
  const hooks = { ...objectOf(clean["hooks"], "hooks") };
  for (const event of Object.keys(entry.commands)) {
    hooks[event] = [...listOf(hooks[event], `hooks.${event}`), groupFor(event, entry)];
  }
  return { ...clean, hooks };
}

/** The settings without our hook, and without what only held our hook. */
function withoutHook(settings: Settings): Settings {
  if (settings["hooks"] === undefined) return settings;
  const hooks: Record<string, unknown> = {};
  let found = false;
  for (const [event, groups] of Object.entries(objectOf(settings["hooks"], "hooks"))) {
    const left = listOf(groups, `hooks.${event}`).flatMap((group) => {
      const rest = withoutOurs(group);
      if (rest !== group) found = true;
      return rest === undefined ? [] : [rest];
    });
    if (left.length > 0 || !Array.isArray(groups) || groups.length === 0) hooks[event] = left;
  }
  if (!found) return settings;
  const { hooks: _, ...rest } = settings;
  return Object.keys(hooks).length === 0 ? rest : { ...settings, hooks };
}

/** Our installed commands, by event. */
function ourCommands(settings: Settings): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const { event, hook } of hooksIn(settings)) if (isOurs(hook)) found.set(event, commandOf(hook));
  return found;
}

/** Events whose hooks differ from what `withHook` writes: ours is missing, or something next to it weakens it. */
function eventsAmiss(settings: Settings, entry: HookEntry): readonly string[] {
  const hooks = objectOf(settings["hooks"] ?? {}, "hooks");
  const events = new Set([...Object.keys(entry.commands), ...ourCommands(settings).keys()]);
  return [...events].filter((event) => {
    const own = listOf(hooks[event], `hooks.${event}`).filter((group) => hooksOf(group).some(isOurs));
    return !Object.hasOwn(entry.commands, event) || !isDeepStrictEqual(own, [groupFor(event, entry)]);
  });
}

/** What in these settings switches hooks off, but no hook for all users; texts for people. */
function switchedOffIn(settings: Settings): readonly string[] {
  const { enabled, disabled } = switches.safeParse(settings["hooksConfig"]).data ?? {};
  return [
    ...(settings["disableAllHooks"] === true ? ["disableAllHooks is on, so that no hook runs"] : []),
    ...(enabled === false ? ["hooksConfig.enabled is off, so that no hook runs"] : []),
    ...(disabled?.some((command) => ours.test(command)) === true ? ["hooksConfig.disabled names our hook"] : []),
  ];
}

/** What else in these settings keeps our hook from running as installed; texts for people. */
function problemsIn({ env }: Settings): readonly string[] {
  const names = typeof env === "object" && env !== null ? Object.keys(env) : [];
  const steered = names.filter((name) => steering.test(name));
  return [...(steered.length > 0 ? [`env sets ${steered.join(", ")}, which steers what the hook starts`] : [])];
}

/** Hooks of others that may change a call after it was judged, or answer what our hook asks. */
function foreignHooks(settings: Settings): readonly string[] {
  const asked = hooksIn(settings).filter(({ event }) => judging.has(event));
  return asked.flatMap(({ event, hook }) =>
    isOurs(hook) ? [] : [`${event}: ${JSON.stringify((commandOf(hook) || "no command").slice(0, 100))}`],
  );
}

function groupFor(event: string, { commands, timeout, flat, more }: HookEntry): Settings {
  if (flat) return { type: "command", bash: commands[event], timeoutSec: timeout };
  const matcher = /Tool(?:Use(?:Failure)?)?$/.test(event) ? { matcher: "*" } : {};
  return { ...matcher, hooks: [{ type: "command", command: commands[event], timeout, ...more?.[event] }] };
}

function hooksIn(settings: Settings): readonly { readonly event: string; readonly hook: unknown }[] {
  return Object.entries(objectOf(settings["hooks"] ?? {}, "hooks")).flatMap(([event, groups]) =>
    listOf(groups, `hooks.${event}`).flatMap((group) => hooksOf(group).map((hook) => ({ event, hook }))),
  );
}

function withoutOurs(group: unknown): unknown {
  const hooks = hooksOf(group);
  const rest = hooks.filter((hook) => !isOurs(hook));
  if (rest.length === hooks.length) return group;
  return rest.length === 0 ? undefined : { ...objectOf(group, "a hook"), hooks: rest };
}

function hooksOf(group: unknown): readonly unknown[] {
  if (typeof group !== "object" || group === null || !("hooks" in group)) return [group];
  return Array.isArray(group.hooks) ? group.hooks : [];
}

function isOurs(hook: unknown): boolean {
  return isOurCommand(commandOf(hook));
}

function commandOf(hook: unknown): string {
  const { data } = z.looseObject({ command: z.string().optional(), bash: z.string().optional() }).safeParse(hook);
  return data?.bash ?? data?.command ?? "";
}

function objectOf(value: unknown, name: string): Settings {
  if (value === undefined) return {};
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  throw new Error(`${name} is not an object`);
}

function listOf(value: unknown, name: string): readonly unknown[] {
  if (value === undefined) return [];
  if (Array.isArray(value)) return value;
  throw new Error(`${name} is not a list`);
}
