import type { ReplControl } from "../control/repl-control.ts";

/** For users without a chosen model: says that the assistant that answers is no language model. */
export function LacksModel({ control }: { readonly control: ReplControl }) {
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
