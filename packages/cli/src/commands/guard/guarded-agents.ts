import type { GuardedHost, HookForm } from "@gennai/guard/hosts/guarded-host";
import { knownHosts } from "@gennai/guard/hosts/known-hosts";
import { usageError } from "../../terminal/cli-error.ts";
import { guardPlugin } from "./guard-plugin.ts";
import type { GuardedFormat } from "./guarded-file.ts";
import { type HookProgram, shellLine } from "./hook-program.ts";
import { hookSettings } from "./hook-settings.ts";

type SettingsForm = Extract<HookForm, { readonly type: "settings" }>;

/** Seconds that the host waits for the hook: more than the hook waits for the server. */
const timeout = 60;

/** How our hook of an agent is written in its files. */
export function hookFormat({ id, hook: { form } }: GuardedHost, program: HookProgram): GuardedFormat {
  return form.type === "plugin" ? guardPlugin(id, program, form.source) : inSettings(form, program);
}

/**
 * Before a call, every exit code but 2 means that the hook failed, and most hosts then run the call. At other events, 2 would
 * keep the agent from stopping.
 */
function inSettings(form: SettingsForm, program: HookProgram): GuardedFormat {
  const { events, before, refusal: _refusal, second = 1, ...entry } = form;
  const line = (event: string): string =>
    before.includes(event) ? lineBefore(form, program) : `${shellLine(program)} || exit 1`;
  const commands = Object.fromEntries(events.map((event) => [event, line(event)]));
  return hookSettings({ timeout: timeout * second, ...entry, commands });
}

/** What a shell runs before a call of the agent. */
export function lineBefore({ refusal = "exit 2" }: SettingsForm, program: HookProgram): string {
  return `${shellLine(program)} || ${refusal}`;
}

/** The agent of this name, or all for `all`. Throws `CliError` if it has no guard. */
export function guardedAgents(name: string): readonly GuardedHost[] {
  const hosts = [...knownHosts.values()];
  const named = hosts.filter(({ id }) => name === "all" || id === name);
  if (named.length > 0) return named;
  throw usageError(
    `There is no guard for ${JSON.stringify(name.slice(0, 100))}.`,
    `Agents: ${hosts.map(({ id }) => id).join(", ")}, all.`,
  );
}

/** The host of one agent. Throws `CliError` as `guardedAgents` does. */
export function guardedHostNamed(name: string): GuardedHost {
  const [host] = name === "all" ? guardedAgents("") : guardedAgents(name);
  if (host === undefined) throw new TypeError("There is no agent.");
  return host;
}
