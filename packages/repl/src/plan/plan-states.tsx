import type { Plan } from "@gennai/protocol/model/governance/plan";

const path: readonly { readonly state: Plan["state"]; readonly word: string }[] = [
  { state: "draft", word: "Draft" },
  { state: "preview", word: "Preview" },
  { state: "awaiting_approval", word: "Approval" },
  { state: "executing", word: "Execution" },
  { state: "verifying", word: "Verification" },
  { state: "done", word: "Done" },
];

const endWords: Partial<Record<Plan["state"], string>> = {
  failed: "Failed",
  partial: "Partly done",
  interrupted: "Interrupted",
  unverified: "Done, not verified",
  unknown: "Unknown state",
};

/** A plan's progress, and its end. */
export function PlanStates({ state }: { readonly state: Plan["state"] }) {
  const end = endWords[state];
  const at = path.findIndex((place) => place.state === state);
  const way = end === undefined ? path : path.filter((place) => place.state !== "done");
  return (
    <ol class="plan-states" aria-label="State of the plan">
      {way.map((place, index) => (
        <li
          key={place.state}
          class={
            index === at
              ? "plan-state-now"
              : index < at || (end !== undefined && state !== "unknown")
                ? "plan-state-past"
                : "plan-state-ahead"
          }
          aria-current={index === at ? "step" : undefined}
        >
          {place.word}
        </li>
      ))}
      {end !== undefined && (
        <li
          class={state === "unverified" ? "plan-state-now plan-state-doubtful" : "plan-state-now plan-state-bad"}
          aria-current="step"
        >
          {end}
        </li>
      )}
    </ol>
  );
}

/** Three separate facts about a run. */
export function PlanFactsRow({ plan }: { readonly plan: Pick<Plan, "claimed" | "executed" | "verified"> }) {
  const facts = [
    { word: "Claimed", is: plan.claimed, says: "Every step reported success." },
    { word: "Executed", is: plan.executed, says: "The server saw the effect of every step." },
    { word: "Verified", is: plan.verified, says: "The verification commands passed." },
  ];
  return (
    <ul class="plan-facts" aria-label="What is known of the run">
      {facts.map(({ word, is, says }) => (
        <li key={word} class={is ? "plan-fact-yes" : "plan-fact-no"} title={says}>
          <span aria-hidden="true">{is ? "✓" : "–"}</span> {word}
          <span class="spoken">{is ? ": yes" : ": no"}</span>
        </li>
      ))}
    </ul>
  );
}
