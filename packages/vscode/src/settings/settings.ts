import type { ReplSettings } from "@gennai/client/host/host-messages";
import { type CommandsMode, commandsModes, formerModes } from "@gennai/protocol/commands-mode";
import { type IntentsMode, intentsModeWords } from "@gennai/protocol/model/governance/intents-mode";
import { type Backend, backends, isSelfHosted } from "@gennai/protocol/model/session/backend";
import type { EditingMode, SettingsChoice } from "@gennai/protocol/model/session/session-settings";
import * as vscode from "vscode";

export type AutoLaunch = "ask" | "always" | "never";

/** The user's settings, checked: an invalid value is replaced by the default. */
export interface GennaiSettings {
  readonly serverPort: number;
  /** Empty: a server of this machine. */
  readonly baseUrl: string;
  readonly serverCommand: string;
  /** Empty: Node is searched. */
  readonly nodePath: string;
  readonly autoLaunch: AutoLaunch;
  /** Empty: the server's default. */
  readonly backend: Backend | "";
  readonly model: string;
  /** Empty: the usual address of the model's server. */
  readonly modelUrl: string;
  readonly scenario: string;
  readonly scenarioFiles: readonly string[];
  readonly editingMode: EditingMode;
  /** Whether a person is asked before the first write of a turn begins a branch. */
  readonly createBranch: "ask" | "always";
  /** 0: no limit. */
  readonly questionSeconds: number;
  readonly showThinking: boolean;
  readonly notifications: boolean;
  readonly notifyBlockedCalls: boolean;
  /** True to show after each line who wrote it. */
  readonly lineOrigins: boolean;
  /** True to show origins in a hover over a line, in files with recorded lines. */
  readonly lineOriginsHover: boolean;
  readonly commands: CommandsMode;
  readonly protectedBranches: readonly string[];
  /** Empty: as chosen elsewhere, e.g. by `gennai intents mode`. */
  readonly intents: IntentsMode | "";
}

export function readSettings(): GennaiSettings {
  const configuration = vscode.workspace.getConfiguration("gennai");
  const text = (key: string) => asText(configuration.get<unknown>(key));
  const flag = (key: string, otherwise: boolean) => {
    const value = configuration.get<unknown>(key);
    return typeof value === "boolean" ? value : otherwise;
  };
  // Only the user may decide about programs and where a token is sent, whatever a workspace says.
  const ofUser = (key: string) => asText(configuration.inspect<unknown>(key)?.globalValue);
  const port = configuration.get<unknown>("serverPort");
  const seconds = configuration.get<unknown>("questionSeconds");
  return {
    serverPort: typeof port === "number" && Number.isInteger(port) && port > 0 && port < 65536 ? port : 7777,
    baseUrl: ofUser("baseUrl").trim(),
    serverCommand: ofUser("serverCommand").trim(),
    nodePath: ofUser("nodePath").trim(),
    autoLaunch: oneOf(["ask", "always", "never"], text("autoLaunch"), "always"),
    backend: oneOf(["", ...backends], text("defaultBackend"), ""),
    model: text("defaultModel"),
    // The key and the conversation are sent there.
    modelUrl: httpUrl(ofUser("defaultModelUrl").trim()),
    scenario: text("defaultScenario"),
    scenarioFiles: texts(configuration.get<unknown>("scenarioFiles")),
    editingMode: oneOf(["branch", "proposal"], text("editingMode"), "branch"),
    createBranch: oneOf(["ask", "always"], text("createBranch"), "ask"),
    questionSeconds: typeof seconds === "number" && Number.isInteger(seconds) && seconds >= 0 ? seconds : 600,
    showThinking: flag("showThinking", false),
    notifications: flag("notifications", true),
    notifyBlockedCalls: configuration.inspect<unknown>("notifyBlockedCalls")?.globalValue !== false,
    lineOrigins: flag("provenance.annotations", false),
    lineOriginsHover: flag("provenance.hover", false),
    commands: chosenCommands(ofUser),
    protectedBranches: texts(configuration.get<unknown>("governance.protectedBranches")),
    intents: oneOf(["", ...intentsModeWords.words], ofUser("governance.intents"), ""),
  };
}

/** The setting, or else the two of 0.2 that it replaces, of which the stricter one counts. */
function chosenCommands(ofUser: (key: string) => string): CommandsMode {
  const chosen = commandsModes.find((mode) => mode === ofUser("governance.commands"));
  const former = ["governance.sandbox", "governance.stages"].map((key) => formerModes[ofUser(key)]);
  return chosen ?? (["staged", "ask"] as const).find((mode) => former.includes(mode)) ?? "auto";
}

/** The settings for a new session. */
export function settingsChoice(settings: GennaiSettings, workingDir: string): SettingsChoice {
  return {
    workingDir,
    editingMode: settings.editingMode,
    questionSeconds: settings.questionSeconds,
    ...(settings.backend === "" ? {} : { backend: settings.backend }),
    ...(settings.model === "" ? {} : { model: settings.model }),
    ...(settings.modelUrl === "" || !takesUrl(settings.backend)
      ? {}
      : { baseUrl: settings.modelUrl, handedKeyOnly: true }),
  };
}

export function replSettings(settings: GennaiSettings): ReplSettings {
  const { modelUrl, backend } = settings;
  const { showThinking, model, editingMode, scenario, questionSeconds } = settings;
  return {
    showThinking,
    backend,
    model,
    editingMode,
    scenario,
    questionSeconds,
    modelUrl: takesUrl(backend) ? modelUrl : "",
  };
}

/** The address of a provider in the user's settings; empty: its usual address. */
export function usersModelUrl(
  { backend, modelUrl }: Pick<GennaiSettings, "backend" | "modelUrl">,
  of: Backend,
): string {
  return of === backend && takesUrl(of) ? modelUrl : "";
}

function takesUrl(backend: Backend | ""): boolean {
  return backend !== "" && isSelfHosted(backend);
}

function httpUrl(text: string): string {
  const { protocol } = URL.canParse(text) ? new URL(text) : { protocol: "" };
  return protocol === "http:" || protocol === "https:" ? text : "";
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];
}

function oneOf<Value extends string>(values: readonly Value[], text: string, otherwise: Value): Value {
  return values.find((value) => value === text) ?? otherwise;
}
