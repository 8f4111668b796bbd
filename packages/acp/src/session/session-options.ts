import type { SessionConfigOption, SessionConfigSelectOption } from "@agentclientprotocol/sdk";
import { describeModel, type ProviderChoice } from "@gennai/client/host/model-choices";
import { spelledOut } from "@gennai/protocol/hidden-characters";
import { isSelfHosted } from "@gennai/protocol/model/session/backend";
import { efforts } from "@gennai/protocol/model/session/effort";
import type { ReportedSettings, SettingsChoice } from "@gennai/protocol/model/session/session-settings";
import { type Mode, modeState } from "./session-modes.ts";

interface OfferedModel {
  readonly value: string;
  readonly shown: SessionConfigSelectOption;
  readonly choice: SettingsChoice;
}

/** Many of them cannot be chosen from a list; the one in force is always among them. */
const maxModels = 500;

/** What an editor shows as a session's settings, with what is in force. */
export function sessionOptions(
  settings: ReportedSettings,
  providers: readonly ProviderChoice[],
  mode: Mode,
): readonly SessionConfigOption[] {
  const { currentModeId, availableModes } = modeState(mode);
  return [
    {
      type: "select",
      id: "mode",
      name: "Mode",
      category: "mode",
      currentValue: currentModeId,
      options: availableModes.map(({ id, name, description }) => ({
        value: id,
        name,
        description: description ?? null,
      })),
    },
    {
      type: "select",
      id: "model",
      name: "Model",
      category: "model",
      currentValue: modelValue(settings),
      options: offeredModels(settings, providers).map(({ shown }) => shown),
    },
    {
      type: "select",
      id: "effort",
      name: "Effort",
      description: "How hard the model thinks.",
      category: "thought_level",
      currentValue: settings.effort === "" ? usual : settings.effort,
      options: [
        // Once chosen, there is no way back to what is usual.
        ...(settings.effort === "" ? [{ value: usual, name: "As usual" }] : []),
        ...efforts.map((effort) => ({ value: effort, name: effort })),
      ],
    },
  ];
}

/** What choosing a value means, but for a mode; undefined: it was not offered. */
export function chosenSetting(
  configId: string,
  value: unknown,
  settings: ReportedSettings,
  providers: readonly ProviderChoice[],
): SettingsChoice | undefined {
  if (typeof value !== "string") return undefined;
  switch (configId) {
    case "model":
      return offeredModels(settings, providers).find((model) => model.value === value)?.choice;
    case "effort": {
      const effort = efforts.find((known) => known === value);
      return effort && { effort };
    }
    default:
      return undefined;
  }
}

const usual = "usual";

/** Of providers that have their key, or need none. */
function offeredModels(settings: ReportedSettings, providers: readonly ProviderChoice[]): readonly OfferedModel[] {
  const { backend, model, baseUrl } = settings;
  const current = modelValue(settings);
  const own: OfferedModel = {
    value: current,
    shown: { value: current, name: spelledOut(model === "" ? current : model) },
    choice: { ...(backend === undefined ? {} : { backend }), model, baseUrl },
  };
  const offered = new Map<string, OfferedModel>([[current, own]]);
  for (const provider of providers) {
    // An editor's own models are VS Code's.
    if (provider.backend === "editor" || (provider.needsKey && !provider.hasKey)) continue;
    const baseUrl = isSelfHosted(provider.backend) ? provider.baseUrl : "";
    for (const each of provider.models) {
      const choice = { backend: provider.backend, model: each.model, baseUrl };
      const value = modelValue(choice);
      const description = [provider.backend, describeModel(each)].filter((part) => part !== "").join(" · ");
      offered.set(value, { value, shown: { value, name: spelledOut(each.model), description }, choice });
      if (offered.size >= maxModels) return [...offered.values()];
    }
  }
  return [...offered.values()];
}

/** Told apart by where it is, too: the same name elsewhere is another model. */
function modelValue({ backend, model, baseUrl }: Pick<ReportedSettings, "backend" | "model" | "baseUrl">): string {
  return [backend ?? "unknown", model, ...(baseUrl === "" ? [] : [`@${baseUrl}`])]
    .filter((part) => part !== "")
    .join("/");
}
