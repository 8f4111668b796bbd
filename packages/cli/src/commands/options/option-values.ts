import { type CommandsMode, commandsModes, formerModes } from "@gennai/protocol/commands-mode";
import { type Backend, backends } from "@gennai/protocol/model/session/backend";
import type { ModelChoice } from "../../connection/default-settings.ts";
import { usageError } from "../../terminal/cli-error.ts";

/** Values of the options that `modelOptions` declares. */
export interface ModelFlags {
  readonly backend?: string;
  readonly model?: string;
  readonly baseUrl?: string;
}

/** What the user chose of the model. Throws `CliError` for an unknown provider. */
export function modelChoice(flags: ModelFlags): ModelChoice {
  const backend = parseBackend(flags.backend);
  return {
    ...(backend === undefined ? {} : { backend }),
    ...(flags.model === undefined ? {} : { model: flags.model }),
    ...(flags.baseUrl === undefined ? {} : { baseUrl: flags.baseUrl }),
  };
}

function parseBackend(text: string | undefined): Backend | undefined {
  if (text === undefined) return undefined;
  const backend = backends.find((name) => name === text);
  if (backend !== undefined) return backend;
  throw usageError(`There is no backend ${JSON.stringify(text)}.`, `Choose one of ${backends.join(", ")}.`);
}

/** Values of the options that `commandsOption` declares. */
export interface CommandsFlags {
  readonly commands?: string;
  readonly sandbox?: string;
  readonly stages?: string;
}

/** What the options say together; `auto` if nothing. Throws `CliError` for an unknown word, and for a contradiction. */
export function commandsMode(flags: CommandsFlags): CommandsMode {
  const present = Object.fromEntries(commandsModes.map((mode) => [mode, mode]));
  const said = (["commands", "sandbox", "stages"] as const).flatMap((name) => {
    const [word, words] = [flags[name], name === "commands" ? present : formerModes];
    const mode = word === undefined || !Object.hasOwn(words, word) ? undefined : words[word];
    if (word !== undefined && mode === undefined)
      throw usageError(
        `There is no --${name} ${JSON.stringify(word)}.`,
        `Choose one of ${Object.keys(words).join(", ")}.`,
      );
    return mode === undefined || mode === "auto" ? [] : [mode];
  });
  const [mode = "auto", ...others] = new Set(said);
  if (others.length === 0) return mode;
  throw usageError(
    "These options say that commands are staged, and that they are not.",
    "Say only --commands staged or --commands ask.",
  );
}

/** A whole number from `least` to `most`; undefined without a text. Throws `CliError`. @param name the option, for the message */
export function parseCount(text: string | undefined, name: string, most: number, least = 1): number | undefined {
  if (text === undefined) return undefined;
  const count = /^\d{1,9}$/.test(text) ? Number(text) : -1;
  if (count >= least && count <= most) return count;
  throw usageError(
    `${name} takes a whole number from ${least} to ${most}, not ${JSON.stringify(text)}.`,
    `For example: ${name} ${Math.min(20, most)}`,
  );
}
