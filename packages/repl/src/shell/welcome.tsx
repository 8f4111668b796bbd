import type { ReplControl } from "../control/repl-control.ts";

/** Prompts offered to new users: the offline assistant understands them, and they change nothing. */
const firstPrompts = ["list the files", "help"];

/** Shown before the first prompt of a session. */
export function Welcome({ control }: { readonly control: ReplControl }) {
  const opening = control.opening.value.state;
  const session = control.followed.value;
  const opened = session?.opened.value ?? 1;
  if (opening === "opening" || opened < 1 || session?.following.value.state === "connecting") {
    return (
      <p class="empty" role="status">
        Opening…{opened > 0 && opened < 1 && ` ${Math.round(opened * 100)} %`}
      </p>
    );
  }
  const workspace = session?.session.workingDir ?? control.host.launch.workspace;
  const { runHostCommand } = control.host;
  const { folders = 0 } = control.host.launch;
  const proposal = (session?.settings.value ?? control.choice.value).editingMode === "proposal";
  return (
    <div class="welcome">
      <h3>What should be done?</h3>
      <p>
        The model proposes, the server governs.{" "}
        {proposal
          ? "Nothing is written before you have reviewed it."
          : "Changes go to a branch of the agent's own, and can be undone."}
      </p>
      {workspace !== undefined && (
        <p class="quiet">
          Workspace <code>{workspace}</code>{" "}
          {folders > 1 && runHostCommand !== undefined && (
            <button type="button" class="link" onClick={() => void runHostCommand("chooseFolder")}>
              Choose another of {folders} folders
            </button>
          )}
        </p>
      )}
      {control.lacksModel.value && <LacksModel control={control} />}
      <div class="suggestions">
        {firstPrompts.map((text) => (
          <button key={text} type="button" class="chip" onClick={() => control.turns.send(text)}>
            {text}
          </button>
        ))}
      </div>
    </div>
  );
}

/** For users without a chosen model: says that the assistant that answers is no language model. */
function LacksModel({ control }: { readonly control: ReplControl }) {
  return (
    <div class="lacks-model">
      <p>No language model is chosen yet. Until then a small built-in assistant answers a few fixed requests.</p>
      <div class="suggestions">
        <button type="button" class="button" onClick={() => control.models.open()}>
          Choose a model
        </button>
        <button
          type="button"
          class="button button-quiet"
          onClick={() => void control.useModel({ backend: "offline", model: "", baseUrl: "" })}
        >
          Go on without
        </button>
      </div>
    </div>
  );
}
