/** A settings file of an agent, parsed. */
export type Settings = Readonly<Record<string, unknown>>;

/** What is put into Claude Code's settings. */
export interface HookEntry {
  readonly events: readonly string[];
  /** Shell command that the agent starts. */
  readonly command: string;
  /** Seconds. */
  readonly timeout: number;
}

/** How commands of ours are known again, whichever program file they start. */
const ours = /\bguard hook claude-code\b/;

/** The settings with our hook for each event, once, behind those of others. Throws for settings of another shape. */
export function withHook(settings: Settings, { events, command, timeout }: HookEntry): Settings {
  const clean = withoutHook(settings);
  const hooks = { ...objectOf(clean["hooks"], "hooks") };
  for (const event of events) {
    const matcher = event.endsWith("ToolUse") || event.startsWith("PostToolUse") ? { matcher: "*" } : {};
    const entry = { ...matcher, hooks: [{ type: "command", command, timeout }] };
    hooks[event] = [...listOf(hooks[event], `hooks.${event}`), entry];
  }
  return { ...clean, hooks };
}

/** The settings without ours; whatever only held ours is gone, too. */
export function withoutHook(settings: Settings): Settings {
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

/** Commands of ours that are in place, by event. */
export function ourCommands(settings: Settings): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [event, groups] of Object.entries(objectOf(settings["hooks"] ?? {}, "hooks"))) {
    for (const group of listOf(groups, `hooks.${event}`)) {
      for (const hook of hooksOf(group)) if (isOurs(hook)) found.set(event, commandOf(hook));
    }
  }
  return found;
}

/** Settings that keep every hook from running. */
export function allHooksDisabled(settings: Settings): boolean {
  return settings["disableAllHooks"] === true;
}

function withoutOurs(group: unknown): unknown {
  const hooks = hooksOf(group);
  const rest = hooks.filter((hook) => !isOurs(hook));
  if (rest.length === hooks.length) return group;
  return rest.length === 0 ? undefined : { ...objectOf(group, "a hook"), hooks: rest };
}

function hooksOf(group: unknown): readonly unknown[] {
  const hooks = typeof group === "object" && group !== null && "hooks" in group ? group.hooks : [];
  return Array.isArray(hooks) ? hooks : [];
}

function isOurs(hook: unknown): boolean {
  return ours.test(commandOf(hook));
}

function commandOf(hook: unknown): string {
  const command = typeof hook === "object" && hook !== null && "command" in hook ? hook.command : "";
  return typeof command === "string" ? command : "";
}

function objectOf(value: unknown, name: string): Settings {
  if (value === undefined) return {};
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  throw new Error(`${name} is no object`);
}

function listOf(value: unknown, name: string): readonly unknown[] {
  if (value === undefined) return [];
  if (Array.isArray(value)) return value;
  throw new Error(`${name} is no list`);
}
