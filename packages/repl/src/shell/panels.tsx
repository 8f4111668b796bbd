import type { ToolCallStatus } from "@gennai/client/view/items/view-item";
import type { SessionView } from "@gennai/client/view/session-view";
import { useEffect } from "preact/hooks";
import { AttemptsPanel } from "../attempts/attempts-panel.tsx";
import { TodoPanel } from "../chat/items/todo-panel.tsx";
import { loadSystemPrompt, PromptPreview } from "../composer/prompt-preview.tsx";
import type { ReplControl } from "../control/repl-control.ts";
import { GovernancePanel } from "../governance/governance-panel.tsx";
import type { ScopeExpansion } from "../governance/intents-section.tsx";
import { PlanPanel } from "../plan/plan-panel.tsx";
import { CheckpointPanel } from "../timeline/checkpoint-panel.tsx";
import { TimelinePanel } from "../timeline/timeline-panel.tsx";
import { ProposalReview } from "./proposal-review.tsx";

/** The panel that is shown, other than the chat. */
export function Panel({ control }: { readonly control: ReplControl }) {
  const stores = control.stores.value;
  const followed = control.followed.value;
  const session = followed?.session;
  const view = followed?.view.value;
  const { openFile, openRule } = control.host;
  const { plan } = stores;
  useEffect(() => void plan?.load(), [plan]);
  switch (control.panel.value) {
    case "review":
      return <ProposalReview control={control} />;
    case "plan":
      return plan === undefined ? (
        <NoSession what="Plans" by="type /plan and what is to be done" />
      ) : (
        <PlanPanel store={plan} request={control.turns.draft.value} />
      );
    case "todos":
      return stores.todos === undefined ? <NoSession what="Todos" /> : <TodoPanel store={stores.todos} />;
    case "timeline":
      return (
        <TimelinePanel
          store={stores.timeline}
          sessionId={session?.sessionId ?? ""}
          {...(openFile === undefined ? {} : { onOpenFile: (path: string) => void openFile({ path }) })}
        />
      );
    case "governance":
      return (
        <GovernancePanel
          store={stores.governance}
          rules={stores.rules}
          {...(openRule === undefined ? {} : { onOpenRule: (place: string) => void openRule(place) })}
          hasSession={session !== undefined}
          expansions={view === undefined ? [] : scopeExpansions(view)}
        />
      );
    case "attempts":
      return stores.attempts === undefined ? (
        <NoSession what="Attempts" />
      ) : (
        <AttemptsPanel control={control} store={stores.attempts} />
      );
    case "checkpoints":
      return stores.checkpoints === undefined ? (
        <NoSession what="Checkpoints" />
      ) : (
        <CheckpointPanel store={stores.checkpoints} running={control.turns.progress.value !== "idle"} />
      );
    case "prompt":
      return session === undefined ? <NoSession what="The system prompt" /> : <SystemPrompt control={control} />;
    case "chat":
    case "more":
      return null;
  }
}

function SystemPrompt({ control }: { readonly control: ReplControl }) {
  const sessionId = control.followed.value?.session.sessionId ?? "";
  return (
    <PromptPreview
      key={sessionId}
      scenario={control.scenario.value}
      load={(scenario, options) => loadSystemPrompt(control.governance, sessionId, scenario, options)}
    />
  );
}

function NoSession({ what, by = "begin one" }: { readonly what: string; readonly by?: string }) {
  return (
    <p class="empty">
      {what} belong to a session: {by} in the chat.
    </p>
  );
}

/** What the model asked for beyond the scope of its intent, oldest first. */
export function scopeExpansions(view: SessionView): readonly ScopeExpansion[] {
  // Read to subscribe to new items.
  if (view.count.value === 0) return [];
  return view.scopeRequests.map(({ call, intentId }) => {
    const { callId, argumentsJson, status } = call.item.value;
    const { paths, reason } = wanted(argumentsJson);
    return { requestId: callId, intentId, paths, reason, state: stateOf(status) };
  });
}

function stateOf(status: ToolCallStatus): ScopeExpansion["state"] {
  if (status === "writing" || status === "waiting") return "open";
  return status === "done" || status === "running" ? "granted" : "refused";
}

function wanted(argumentsJson: string): Pick<ScopeExpansion, "paths" | "reason"> {
  let value: unknown;
  try {
    value = JSON.parse(argumentsJson);
  } catch {
    // The model is still writing the arguments.
  }
  const field = (name: string): unknown =>
    typeof value === "object" && value !== null ? Reflect.get(value, name) : "";
  const paths = field("paths");
  const reason = field("reason");
  return {
    paths: Array.isArray(paths) ? paths.filter((path) => typeof path === "string") : [],
    reason: typeof reason === "string" ? reason : "",
  };
}
