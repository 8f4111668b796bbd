import type { ReplSettings } from "@gennai/client/host/host-messages";
import { backends } from "@gennai/protocol/model/session/backend";
import type { SettingsChoice } from "@gennai/protocol/model/session/session-settings";

/** The settings of a new session, as the host's settings have them. */
export function choiceOf(settings: ReplSettings, workspace: string | undefined): SettingsChoice {
  const backend = backends.find((name) => name === settings.backend);
  return {
    ...(backend === undefined ? {} : { backend }),
    ...(settings.model === "" ? {} : { model: settings.model }),
    ...(settings.modelUrl === "" ? {} : { baseUrl: settings.modelUrl, handedKeyOnly: true }),
    ...(workspace === undefined ? {} : { workingDir: workspace }),
    ...(settings.questionSeconds === undefined ? {} : { questionSeconds: settings.questionSeconds }),
    editingMode: settings.editingMode,
  };
}
