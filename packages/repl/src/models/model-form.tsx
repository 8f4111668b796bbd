import type { ModelTrial, ProviderChoice } from "@gennai/client/host/model-choices";
import { type Backend, isSelfHosted } from "@gennai/protocol/model/session/backend";
import { useEffect, useState } from "preact/hooks";
import type { ReplControl } from "../control/repl-control.ts";
import type { ModelStoreState } from "../control/session/model-store.ts";
import { Icon } from "../look/icon.tsx";
import { ModelKeyField } from "./model-key-field.tsx";
import { ModelList } from "./model-list.tsx";
import { ProviderField } from "./provider-field.tsx";
import { isSameModel, type ShownModel, shownModels } from "./shown-models.ts";

export interface ModelFormProps {
  readonly control: ReplControl;
  readonly close: () => void;
}

/** A form to choose a model: search, set its key, try it, use it. */
export function ModelForm({ control, close }: ModelFormProps) {
  const store = control.models;
  const { providers, busy, trial, problem } = store.state.value;
  const settings = control.followed.value?.settings.value ?? control.choice.value;
  const backend = control.backend.value;
  const current =
    backend === undefined || control.lacksModel.value
      ? undefined
      : { backend, model: settings.model ?? "", baseUrl: isSelfHosted(backend) ? (settings.baseUrl ?? "") : "" };
  const [text, setText] = useState("");
  const [looked, setLooked] = useState<Backend | undefined>(undefined);
  const [picked, setPicked] = useState<ShownModel | undefined>(undefined);
  useEffect(() => {
    void store.list(current);
    // Lists what is in use when the form opens; once.
  }, [store]);
  const found = providers.length === 0 ? [] : shownModels(providers, { text, backend: looked });
  const chosen =
    found.find((each) => picked !== undefined && isSameModel(each, picked)) ??
    found.find((each) => text === "" && current !== undefined && isSameModel(each, current)) ??
    // Enter must not use a model that nobody searched for.
    (text === "" ? undefined : found[0]);
  const provider = providers.find((each) => each.backend === (looked ?? chosen?.backend));
  const use = () => {
    if (chosen === undefined || chosen.lacksKey) return;
    close();
    const { backend: of, model, baseUrl } = chosen;
    void control.useModel({ backend: of, model, baseUrl });
  };
  return (
    <div class="popover-form model-form">
      <ModelList
        models={found}
        chosen={chosen}
        current={current}
        text={text}
        isListing={busy === "listing"}
        onText={(next) => {
          setText(next);
          setPicked(undefined);
        }}
        onPick={setPicked}
        onUse={use}
      />
      <ProviderField
        providers={providers}
        looked={looked}
        isEditor={control.host.kind === "editor"}
        busy={busy !== undefined}
        onLook={setLooked}
        onAddress={(of, url) => void store.look(of, url)}
      />
      {provider !== undefined && takesKey(provider) && (
        <ModelKeyField
          // A key typed for one address must not be used for the next.
          key={`${provider.backend} ${provider.baseUrl}`}
          provider={provider}
          isKept={control.host.keepModelKey !== undefined}
          busy={busy !== undefined}
          onKey={(key) => store.setKey(provider.backend, isSelfHosted(provider.backend) ? provider.baseUrl : "", key)}
        />
      )}
      {chosen !== undefined && (
        <ModelTrialLine
          busy={busy}
          trial={trial !== undefined && isSameModel(trial.of, chosen) ? trial.outcome : undefined}
        />
      )}
      {problem !== undefined && (
        <p class="model-problem" role="alert">
          {problem.action} failed. {problem.message} {problem.hint}
        </p>
      )}
      <label class="check">
        <input
          type="checkbox"
          checked={control.showThinking.value}
          onChange={({ currentTarget }) => {
            control.showThinking.value = currentTarget.checked;
          }}
        />
        Show the model's thinking
      </label>
      <div class="popover-buttons">
        {control.host.runHostCommand !== undefined && (
          <button
            type="button"
            class="tool-button"
            title="All settings"
            aria-label="All settings"
            onClick={() => void control.host.runHostCommand?.("openSettings")}
          >
            <Icon name="gear" />
          </button>
        )}
        <span class="space" />
        {chosen !== undefined && chosen.backend !== "offline" && (
          <button
            type="button"
            class="button button-quiet"
            disabled={busy !== undefined || chosen.lacksKey}
            title="One small request to this model; its provider may charge for it."
            onClick={() => void store.try({ backend: chosen.backend, model: chosen.model, baseUrl: chosen.baseUrl })}
          >
            Try it
          </button>
        )}
        <button type="button" class="button" disabled={chosen === undefined || chosen.lacksKey} onClick={use}>
          Use it
        </button>
      </div>
    </div>
  );
}

/** True if a key can be set: for a server of the user's own, only once its address is valid. */
function takesKey({ backend, baseUrl }: ProviderChoice): boolean {
  return backend !== "editor" && (!isSelfHosted(backend) || URL.canParse(baseUrl));
}

interface ModelTrialLineProps {
  readonly busy: ModelStoreState["busy"];
  /** Trial of the chosen model; undefined if it was not tried. */
  readonly trial: ModelTrial | undefined;
}

/** The progress or result of a trial. */
function ModelTrialLine({ busy, trial }: ModelTrialLineProps) {
  return (
    <p class={trial?.type === "failed" ? "model-trial model-problem" : "model-trial"} role="status">
      {busy === "trying" ? "Asking it for a word…" : trial !== undefined && trialWords(trial)}
    </p>
  );
}

function trialWords(trial: ModelTrial): string {
  if (trial.type === "answered") return `It answers: ${(trial.milliseconds / 1000).toFixed(1)} s.`;
  return `It does not answer. ${trial.problem} ${trial.hint}`.trim();
}
