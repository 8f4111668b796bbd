import { type Backend, backends, type EditingMode, type Verbosity, verbosities } from "@gennai/client/settings";
import { type SandboxMode, sandboxModes } from "@gennai/server/sandbox/sandbox";
import type { ServerFlags } from "../../connection/server-choice.ts";
import { CliError } from "../../errors/cli-error.ts";
import { exitCode } from "../../errors/exit-code.ts";

/** Options of `run` as commander gives them. */
export interface RunFlags extends ServerFlags {
  readonly workspace?: string;
  readonly scenario?: string;
  readonly mode?: string;
  readonly backend?: string;
  readonly model?: string;
  readonly baseUrl?: string;
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

export function parseBackend(text: string | undefined): Backend | undefined {
  if (text === undefined) return undefined;
  const backend = backends.find((name) => name === text);
  if (backend !== undefined) return backend;
  throw usageError(`There is no backend ${JSON.stringify(text)}.`, `Choose one of ${backends.join(", ")}.`);
}

export function parseMode(text: string | undefined): EditingMode | undefined {
  if (text === undefined || text === "branch" || text === "proposal") return text;
  throw usageError(
    `There is no mode ${JSON.stringify(text)}.`,
    "Choose --mode branch, --mode proposal or --mode plan.",
  );
}

export function parseVerbosity(text: string | undefined): Verbosity | undefined {
  if (text === undefined) return undefined;
  const verbosity = verbosities.find((name) => name === text);
  if (verbosity !== undefined) return verbosity;
  throw usageError(`There is no verbosity ${JSON.stringify(text)}.`, `Choose one of ${verbosities.join(", ")}.`);
}

export function parseSandbox(text: string | undefined): SandboxMode {
  const mode = sandboxModes.find((name) => name === (text ?? "auto"));
  if (mode !== undefined) return mode;
  throw usageError(`There is no --sandbox ${JSON.stringify(text)}.`, `Choose one of ${sandboxModes.join(", ")}.`);
}

/** @param name the option, for the message */
export function parseCount(text: string | undefined, name: string, most: number): number | undefined {
  if (text === undefined) return undefined;
  const count = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= most) return count;
  throw usageError(
    `${name} takes a whole number from 1 to ${most}, not ${JSON.stringify(text)}.`,
    `For example: ${name} ${Math.min(20, most)}`,
  );
}

/** @param name the option, for the message */
export function parseAmount(text: string | undefined, name: string): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,12}(\.\d{1,9})?$/.test(text)) return Number(text);
  throw usageError(`${name} takes a number from 0 on, not ${JSON.stringify(text)}.`, `For example: ${name} 5`);
}

/** Whole, and 0 for no limit. */
export function parseTokens(text: string | undefined, name: string): number | undefined {
  const tokens = parseAmount(text, name);
  if (tokens === undefined || Number.isInteger(tokens)) return tokens;
  throw usageError(`${name} takes a whole number.`, `For example: ${name} 200000`);
}

export function usageError(message: string, ...next: readonly string[]): CliError {
  return new CliError(message, { exitCode: exitCode.usage, next });
}
