import { type SandboxMode, sandboxModes } from "@gennai/machine/sandbox/sandbox";
import { type StagesMode, stagesModes } from "@gennai/machine/staged-shell/stages/stages-mode";
import { type Backend, backends } from "@gennai/protocol/model/session/backend";
import type { ModelChoice } from "../../connection/default-settings.ts";
import { usageError } from "../../errors/cli-error.ts";

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

/** `auto` if there is no text. Throws `CliError` for an unknown mode. */
export function parseSandbox(text: string | undefined): SandboxMode {
  const mode = sandboxModes.find((name) => name === (text ?? "auto"));
  if (mode !== undefined) return mode;
  throw usageError(`There is no --sandbox ${JSON.stringify(text)}.`, `Choose one of ${sandboxModes.join(", ")}.`);
}

/** `auto` if there is no text. Throws `CliError` for an unknown mode. */
export function parseStages(text: string | undefined): StagesMode {
  const mode = stagesModes.find((name) => name === (text ?? "auto"));
  if (mode !== undefined) return mode;
  throw usageError(`There is no --stages ${JSON.stringify(text)}.`, `Choose one of ${stagesModes.join(", ")}.`);
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
