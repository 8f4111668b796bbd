import type { EditingMode, SettingsChoice } from "@gennai/protocol/model/session/session-settings";
import type { ServerFlags } from "../../connection/server-choice.ts";
import { usageError } from "../../terminal/cli-error.ts";
import { type CommandsFlags, type ModelFlags, modelChoice } from "../options/option-values.ts";
import { chosenSettings, type SettingFlags } from "./setting-options.ts";

/** Options of `run` as commander gives them. */
export interface RunFlags extends ServerFlags, ModelFlags, CommandsFlags, SettingFlags {
  readonly workspace?: string;
  readonly scenario?: string;
  readonly mode?: string;
  readonly yes?: boolean;
  readonly ask?: boolean;
  readonly allow?: readonly string[];
  readonly json?: boolean;
  /** File with a JSON Schema that the answer must fit. */
  readonly outputSchema?: string;
  /** File that the answer is written to. */
  readonly output?: string;
  readonly thinking?: boolean;
  /** The former name of `resume`; refused. */
  readonly session?: string;
  /** An earlier session; true: the person chooses it. */
  readonly resume?: string | true;
  /** Lines that are printed once, without drawing. */
  readonly plain?: boolean;
  readonly continue?: boolean;
  readonly intent?: string;
  readonly branch?: string;
  readonly worktree?: boolean;
  readonly protect?: readonly string[];
  readonly keep?: readonly string[];
  readonly refuse?: readonly string[];
  /** Images that are sent with the request. */
  readonly image?: readonly string[];
  /** How often the request is tried, each time on a copy of its own. */
  readonly attempts?: string;
  /** Number of attempts at the same time. */
  readonly parallel?: string;
  /** The command that decides between them. */
  readonly check?: string;
  /** Models of the first attempt, the second, and so on. */
  readonly attemptModel?: readonly string[];
  /** True if no person is there: nobody is asked. */
  readonly ci?: boolean;
  /** A file outside of the workspace that says which questions are then answered yes. */
  readonly ciPolicy?: string;
  /** A directory that is made for the run's artefacts. */
  readonly artefacts?: string;
  readonly annotations?: string;
}

/** The session's settings by the options. Throws `CliError`. */
export function sessionSettings(flags: RunFlags): SettingsChoice {
  const model = modelChoice(flags);
  const settings = chosenSettings(flags);
  const editingMode = parseMode(flags.mode);
  if (flags.yes === true && flags.ask === true)
    throw usageError("--yes and --ask exclude each other.", "Leave one of them out.");
  return { ...model, ...settings, ...(editingMode === undefined ? {} : { editingMode }) };
}

function parseMode(text: string | undefined): EditingMode | undefined {
  if (text === undefined || text === "branch" || text === "proposal") return text;
  throw usageError(
    `There is no mode ${JSON.stringify(text)}.`,
    "Choose --mode branch, --mode proposal or --mode plan.",
  );
}

/** Options of `run` that need `--ci`. */
const ofPipelines = ["ciPolicy", "artefacts", "annotations"] as const;

/** Throws `CliError` for options of a pipeline without `--ci`. */
export function refusePipelineOptions(flags: RunFlags): void {
  const name = ofPipelines.find((each) => flags[each] !== undefined);
  if (name === undefined) return;
  throw usageError(`--${name === "ciPolicy" ? "ci-policy" : name} goes with --ci.`, "Add --ci.");
}
