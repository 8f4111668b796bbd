import { type Backend, backends, isSelfHosted } from "@gennai/protocol/model/backend";
import { useEffect, useState } from "preact/hooks";
import type { ReplControl } from "../control/repl-control.ts";
import { Icon } from "../icons/icon.tsx";
import { Popover } from "../shell/popover.tsx";

/** How changes reach the workspace, how the agent goes about it, and which model it is. */
export function SettingsBar({ control }: { readonly control: ReplControl }) {
  const session = control.followed.value;
  const settings = session?.settings.value ?? control.choice.value;
  const mode = settings.editingMode ?? "branch";
  const model = [settings.backend, settings.model].filter((word) => word !== undefined && word !== "").join(" / ");
  const short = (settings.model ?? "").split("/").at(-1) || settings.backend;
  return (
    <div class="settings-bar">
      <label
        class="chip"
        title="Branch: the agent writes on a feature branch. Proposal: you review every change first."
      >
        <span class="spoken">Editing mode</span>
        <select
          value={mode}
          onChange={({ currentTarget }) => {
            const editingMode = currentTarget.value === "proposal" ? "proposal" : "branch";
            // What is shown is what is in force, also when the server would not change it.
            void control.changeSettings({ editingMode }).then((changed) => {
              if (!changed) currentTarget.value = mode;
            });
          }}
        >
          <option value="branch">Branch</option>
          <option value="proposal">Proposal</option>
        </select>
      </label>
      <ScenarioChoice control={control} />
      <Popover label={short ?? "Model"} title={`Model and thinking${model === "" ? "" : `: ${model}`}`}>
        {(close) => (
          <ModelForm control={control} backend={settings.backend} model={settings.model ?? ""} close={close} />
        )}
      </Popover>
    </div>
  );
}

function ScenarioChoice({ control }: { readonly control: ReplControl }) {
  const session = control.followed.value;
  const opened = control.opening.value.state === "done";
  useEffect(() => {
    if (opened) void control.listScenarios();
  }, [control, session, opened]);
  const chosen = control.scenario.value;
  const scenarios = control.directory.scenarios.value;
  const unknown = chosen !== "" && !scenarios.some(({ name }) => name === chosen);
  const described = scenarios.find(({ name }) => name === chosen)?.description;
  return (
    <label class="chip" title={described ?? "How the agent goes about it"}>
      <span class="spoken">Scenario</span>
      <select
        value={chosen}
        onChange={({ currentTarget }) => {
          control.scenario.value = currentTarget.value;
        }}
      >
        <option value="">Auto</option>
        {scenarios.map(({ name, description }) => (
          <option key={name} value={name} title={description}>
            {name}
          </option>
        ))}
        {unknown && <option value={chosen}>{chosen}</option>}
      </select>
    </label>
  );
}

interface ModelFormProps {
  readonly control: ReplControl;
  readonly backend: Backend | undefined;
  readonly model: string;
  readonly close: () => void;
}

function ModelForm({ control, backend, model, close }: ModelFormProps) {
  const [chosen, setChosen] = useState<Backend | undefined>(backend);
  const [name, setName] = useState(model);
  const [url, setUrl] = useState("");
  const offered = backends.filter((each) => each !== "editor" || control.home.kind === "editor");
  return (
    <form
      class="popover-form"
      onSubmit={(event) => {
        event.preventDefault();
        close();
        void control.changeSettings({
          ...(chosen === undefined ? {} : { backend: chosen }),
          ...(name.trim() === "" ? {} : { model: name.trim() }),
          ...(url.trim() === "" ? {} : { baseUrl: url.trim() }),
        });
      }}
    >
      <label>
        Backend
        <select
          value={chosen ?? ""}
          onChange={({ currentTarget }) => {
            setChosen(backends.find((each) => each === currentTarget.value));
            setName("");
          }}
        >
          <option value="">The server's default</option>
          {offered.map((each) => (
            <option key={each} value={each}>
              {each}
            </option>
          ))}
        </select>
      </label>
      <label>
        Model
        <input
          type="text"
          value={name}
          placeholder="the backend's default"
          spellcheck={false}
          onInput={({ currentTarget }) => setName(currentTarget.value)}
        />
      </label>
      {chosen !== undefined && isSelfHosted(chosen) && (
        <label>
          Address
          <input
            type="url"
            value={url}
            placeholder="http://127.0.0.1:8080/v1"
            onInput={({ currentTarget }) => setUrl(currentTarget.value)}
          />
        </label>
      )}
      <label class="check">
        <input
          type="checkbox"
          checked={control.showThinking.value}
          onChange={({ currentTarget }) => {
            control.showThinking.value = currentTarget.checked;
          }}
        />
        Ask for the model's thinking and show it
      </label>
      <div class="popover-buttons">
        {control.home.runHomeCommand !== undefined && (
          <button type="button" class="link" onClick={() => void control.home.runHomeCommand?.("openSettings")}>
            <Icon name="gear" /> All settings
          </button>
        )}
        <span class="space" />
        <button type="submit" class="button">
          Use it
        </button>
      </div>
    </form>
  );
}
