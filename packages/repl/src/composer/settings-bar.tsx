import { mostAttempts } from "@gennai/protocol/model/session/attempt";
import { backendLabel } from "@gennai/protocol/model/session/backend";
import { useEffect } from "preact/hooks";
import type { ReplControl } from "../control/repl-control.ts";
import { Popover } from "../look/popover.tsx";
import { ModelForm } from "../models/model-form.tsx";

/** How changes reach the workspace, how often a prompt is tried, the scenario, and the model. */
export function SettingsBar({ control }: { readonly control: ReplControl }) {
  const session = control.followed.value;
  const settings = session?.settings.value ?? control.choice.value;
  const mode = settings.editingMode ?? "branch";
  const backend = control.backend.value;
  const lacksModel = control.lacksModel.value;
  const provider = backend === undefined ? "" : backendLabel(backend);
  const model = settings.model ?? "";
  const named = lacksModel ? "Choose a model" : [provider, model].filter((word) => word !== "").join(" / ");
  const short = lacksModel ? named : model.split("/").at(-1) || provider || "Model";
  return (
    <div class="settings-bar">
      <label
        class="chip"
        title="Branch Mode: the agent writes on a branch of its own. Proposal Mode: you review every change first."
      >
        <span class="spoken">Editing mode</span>
        <select
          value={mode}
          onChange={({ currentTarget }) => {
            const editingMode = currentTarget.value === "proposal" ? "proposal" : "branch";
            // Shows what is in force, also if the server refuses the change.
            void control.changeSettings({ editingMode }).then((changed) => {
              if (!changed) currentTarget.value = mode;
            });
          }}
        >
          <option value="branch">Branch</option>
          <option value="proposal">Proposal</option>
        </select>
      </label>
      <AttemptsChoice control={control} />
      <ScenarioChoice control={control} />
      <Popover
        label={short}
        title={`Model and thinking${named === "" ? "" : `: ${named}`}`}
        opened={control.models.opened}
      >
        {(close) => <ModelForm control={control} close={close} />}
      </Popover>
    </div>
  );
}

/** How many times the next prompt is tried. */
function AttemptsChoice({ control }: { readonly control: ReplControl }) {
  return (
    <label
      class="chip"
      title="Several attempts: each works on a copy, a check decides, and nothing is taken before you say so."
    >
      <span class="spoken">Attempts</span>
      <select
        value={String(control.attempts.count.value)}
        onChange={({ currentTarget }) => {
          control.attempts.count.value = Number(currentTarget.value);
        }}
      >
        <option value="1">Once</option>
        {Array.from({ length: mostAttempts - 1 }, (_none, index) => index + 2).map((count) => (
          <option key={count} value={String(count)}>
            {count} attempts
          </option>
        ))}
      </select>
    </label>
  );
}

function ScenarioChoice({ control }: { readonly control: ReplControl }) {
  const session = control.followed.value;
  const opened = control.opening.value.state === "done";
  useEffect(() => {
    if (opened) void control.sessions.listScenarios();
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
