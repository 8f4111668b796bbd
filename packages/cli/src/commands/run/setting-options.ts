import { efforts } from "@gennai/protocol/model/session/effort";
import { type SettingsChoice, verbosities } from "@gennai/protocol/model/session/session-settings";
import type { Command } from "commander";
import { usageError } from "../../terminal/cli-error.ts";
import { parseCount } from "../options/option-values.ts";

/** The session's settings that `run` has an option for, one row each. */
const rows = {
  verbosity: {
    option: "--verbosity <how>",
    help: `how much the agent writes: ${verbosities.join(", ")}; it changes no permission`,
    parse(text) {
      const verbosity = verbosities.find((name) => name === text);
      if (verbosity !== undefined) return verbosity;
      throw usageError(`There is no verbosity ${JSON.stringify(text)}.`, `Choose one of ${verbosities.join(", ")}.`);
    },
  },
  effort: {
    option: "--effort <how>",
    help: `how hard the model thinks, as far as it can: ${efforts.join(", ")}`,
    parse(text) {
      const effort = efforts.find((name) => name === text);
      if (effort !== undefined) return effort;
      throw usageError(`There is no effort ${JSON.stringify(text)}.`, `Choose one of ${efforts.join(", ")}.`);
    },
  },
  maxTokens: {
    option: "--max-output-tokens <number>",
    help: "tokens an answer of the model may have",
    parse: (text, name) => parseCount(text, name, 10_000_000),
  },
  maxIterations: {
    option: "--max-iterations <number>",
    help: "model calls a turn may take",
    parse: (text, name) => parseCount(text, name, 1000),
  },
  maxTurnTokens: {
    option: "--max-turn-tokens <number>",
    help: "tokens in and out that a turn may take; what would exceed it is not sent",
    parse: tokens,
  },
  maxSessionTokens: {
    option: "--max-session-tokens <number>",
    help: "the same for the session, over all of its turns; 0: no limit",
    parse: tokens,
  },
  maxCost: {
    option: "--max-cost <amount>",
    help: "what the session may cost, by your prices or the catalogue's; 0: no limit",
    parse: amount,
  },
  questionSeconds: {
    option: "--question-seconds <number>",
    help: "how long a question waits for your answer, 600 if not said; 0: until you answer",
    parse: (text, name) => parseCount(text, name, 999_999_999, 0),
  },
  maxContextTokens: {
    option: "--max-context-tokens <number>",
    help: "tokens the model can take, where it does not say so itself",
    parse: tokens,
  },
} satisfies { readonly [Name in keyof SettingsChoice]?: SettingOption<SettingsChoice[Name]> };

interface SettingOption<Value> {
  readonly option: string;
  readonly help: string;
  /** Throws `CliError`. @param name the option, for the message */
  parse(text: string, name: string): Value;
}

type SettingName = keyof typeof rows;

/** The options as commander gives them. */
export type SettingFlags = { readonly [Name in SettingName as FlagOf<Name>]?: string };

/** `maxTokens` has another name here, because an option must say which tokens. */
type FlagOf<Name extends SettingName> = Name extends "maxTokens" ? "maxOutputTokens" : Name;

export function settingOptions(command: Command): Command {
  for (const { option, help } of Object.values(rows)) command.option(option, help);
  return command;
}

/** The settings that the options choose. Throws `CliError` for a wrong value. */
export function chosenSettings(flags: SettingFlags): Pick<SettingsChoice, SettingName> {
  const names = Object.keys(rows).filter((name): name is SettingName => Object.hasOwn(rows, name));
  const chosen: unknown = Object.fromEntries(
    names.flatMap((name) => {
      const row: SettingOption<unknown> = rows[name];
      const text = flags[name === "maxTokens" ? "maxOutputTokens" : name];
      return text === undefined ? [] : [[name, row.parse(text, row.option.replace(/ .*/, ""))]];
    }),
  );
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Each row gives what its setting is; the compiler cannot follow that.
  return chosen as Pick<SettingsChoice, SettingName>;
}

function amount(text: string, name: string): number {
  if (/^\d{1,12}(\.\d{1,9})?$/.test(text)) return Number(text);
  throw usageError(`${name} takes a number from 0 on, not ${JSON.stringify(text)}.`, `For example: ${name} 5`);
}

/** Whole, and 0 for no limit. */
function tokens(text: string, name: string): number {
  const count = amount(text, name);
  if (Number.isInteger(count)) return count;
  throw usageError(`${name} takes a whole number.`, `For example: ${name} 200000`);
}
