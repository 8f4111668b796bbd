import {
  type EditingMode,
  type SettingsChoice,
  type Verbosity,
  verbosities,
} from "@gennai/protocol/model/session-settings";
import type { ServerFlags } from "../../connection/server-choice.ts";
import { usageError } from "../../errors/cli-error.ts";
import { type ModelFlags, modelChoice, parseCount } from "../options/option-values.ts";

/** Options of `run` as commander gives them. */
export interface RunFlags extends ServerFlags, ModelFlags {
  readonly workspace?: string;
  readonly scenario?: string;
  readonly mode?: string;
  readonly yes?: boolean;
  readonly ask?: boolean;
  readonly json?: boolean;
  readonly thinking?: boolean;
  readonly session?: string;
  readonly intent?: string;
  readonly verbosity?: string;
  readonly maxIterations?: string;
  readonly maxTurnTokens?: string;
  readonly maxSessionTokens?: string;
  readonly maxCost?: string;
  readonly maxContextTokens?: string;
  readonly branch?: string;
  readonly worktree?: boolean;
  readonly sandbox?: string;
  readonly protect?: readonly string[];
  readonly keep?: readonly string[];
  readonly refuse?: readonly string[];
}

/** What the session runs with. Throws `CliError`. */
export function sessionSettings(flags: RunFlags): SettingsChoice {
  const model = modelChoice(flags);
  const editingMode = parseMode(flags.mode);
  const verbosity = parseVerbosity(flags.verbosity);
  const maxIterations = parseCount(flags.maxIterations, "--max-iterations", 1000);
  const maxTurnTokens = parseTokens(flags.maxTurnTokens, "--max-turn-tokens");
  const maxSessionTokens = parseTokens(flags.maxSessionTokens, "--max-session-tokens");
  const maxContextTokens = parseTokens(flags.maxContextTokens, "--max-context-tokens");
  const maxCost = parseAmount(flags.maxCost, "--max-cost");
  if (flags.yes === true && flags.ask === true)
    throw usageError("--yes and --ask exclude each other.", "Leave one of them out.");
  return {
    ...model,
    ...(maxIterations === undefined ? {} : { maxIterations }),
    ...(editingMode === undefined ? {} : { editingMode }),
    ...(verbosity === undefined ? {} : { verbosity }),
    ...(maxTurnTokens === undefined ? {} : { maxTurnTokens }),
    ...(maxSessionTokens === undefined ? {} : { maxSessionTokens }),
    ...(maxContextTokens === undefined ? {} : { maxContextTokens }),
    ...(maxCost === undefined ? {} : { maxCost }),
  };
}

function parseMode(text: string | undefined): EditingMode | undefined {
  if (text === undefined || text === "branch" || text === "proposal") return text;
  throw usageError(
    `There is no mode ${JSON.stringify(text)}.`,
    "Choose --mode branch, --mode proposal or --mode plan.",
  );
}

function parseVerbosity(text: string | undefined): Verbosity | undefined {
  if (text === undefined) return undefined;
  const verbosity = verbosities.find((name) => name === text);
  if (verbosity !== undefined) return verbosity;
  throw usageError(`There is no verbosity ${JSON.stringify(text)}.`, `Choose one of ${verbosities.join(", ")}.`);
}

/** @param name the option, for the message */
function parseAmount(text: string | undefined, name: string): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,12}(\.\d{1,9})?$/.test(text)) return Number(text);
  throw usageError(`${name} takes a number from 0 on, not ${JSON.stringify(text)}.`, `For example: ${name} 5`);
}

/** Whole, and 0 for no limit. */
function parseTokens(text: string | undefined, name: string): number | undefined {
  const tokens = parseAmount(text, name);
  if (tokens === undefined || Number.isInteger(tokens)) return tokens;
  throw usageError(`${name} takes a whole number.`, `For example: ${name} 200000`);
}
