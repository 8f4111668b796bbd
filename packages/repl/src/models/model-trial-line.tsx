import type { ModelTrial } from "@gennai/client/host/model-choices";
import type { ModelStoreState } from "../control/session/model-store.ts";

export interface ModelTrialLineProps {
  readonly busy: ModelStoreState["busy"];
  /** Trial of the chosen model; undefined if it was not tried. */
  readonly trial: ModelTrial | undefined;
}

/** The progress or result of a trial. */
export function ModelTrialLine({ busy, trial }: ModelTrialLineProps) {
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
