import { useId } from "preact/hooks";
import { VisibleText } from "../look/visible-text.tsx";
import type { GovernanceView, GovernedIntent } from "./governance-store.ts";
import { ManagedLock } from "./managed-section.tsx";

export interface IntentsSectionProps {
  readonly view: Pick<
    GovernanceView,
    "managed" | "intents" | "intentWarnings" | "intentsToAccept" | "activeIntentId" | "intentsMode"
  >;
  readonly busy: boolean;
  /** False without a session: then an intent has nothing to apply to. */
  readonly canSelect: boolean;
  readonly expansions: readonly ScopeExpansion[];
  readonly onSelect: (intentId: string) => void;
  /** The person has read all of them. */
  readonly onAccept: (sha256: string) => void;
}

/** A model asked for more scope than its intent has. The question itself is a confirmation. */
export interface ScopeExpansion {
  readonly requestId: string;
  readonly intentId: string;
  readonly paths: readonly string[];
  readonly reason: string;
  readonly state: "open" | "granted" | "refused";
}

const modeWords = {
  auto: "Enforced if the workspace has an intents file",
  required: "Required: without an intent nothing is changed",
  off: "Not enforced",
};

/** The intents that a session can work under, and requests for more scope. */
export function IntentsSection({ view, busy, canSelect, expansions, onSelect, onAccept }: IntentsSectionProps) {
  const { intents, intentWarnings, intentsToAccept, activeIntentId, intentsMode } = view;
  return (
    <section class="g-section" aria-labelledby="intents-title">
      <h3 id="intents-title">
        Intents <ManagedLock policies={view.managed} of="require.intents" />
      </h3>
      <p class="g-quiet">{modeWords[intentsMode]}.</p>
      {intentWarnings.map((warning) => (
        <VisibleText in="p" class="g-notice" key={warning} text={warning} />
      ))}
      {intentsToAccept !== "" && (
        <>
          <p class="g-quiet">
            Read them: what they permit counts, and one can be selected, once you have accepted them. Any change of
            their file asks again.
          </p>
          <div class="g-row">
            <button
              type="button"
              class="button button-quiet"
              disabled={busy || !canSelect}
              onClick={() => onAccept(intentsToAccept)}
            >
              Accept these intents
            </button>
            {!canSelect && <span class="g-quiet">{needsSession}</span>}
          </div>
        </>
      )}
      {intents.length === 0 ? (
        <p class="empty">The workspace has no intents.</p>
      ) : (
        <ul class="intents">
          {intents.map((intent) => (
            <IntentEntry
              key={intent.id}
              {...{ intent, busy }}
              obstacle={obstacleOf(intent, { canSelect, isAccepted: intentsToAccept === "" })}
              isActive={intent.id === activeIntentId}
              onSelect={() => onSelect(intent.id)}
            />
          ))}
        </ul>
      )}
      {expansions.length > 0 && (
        <>
          <h4>Requests for more scope</h4>
          <ul class="intents">
            {expansions.map(({ requestId, intentId, paths, reason, state }) => (
              <li key={requestId}>
                <p>
                  <VisibleText in="code" text={intentId} />{" "}
                  <span class={state === "open" ? "badge badge-warn" : "badge"}>{state}</span>
                </p>
                <ul class="g-paths" aria-label="Would be added">
                  {paths.map((path) => (
                    <li key={path}>
                      + <VisibleText text={path} />
                    </li>
                  ))}
                </ul>
                {reason !== "" && (
                  <p class="g-quiet">
                    The model says: <VisibleText text={reason} />
                  </p>
                )}
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

const needsSession = "Send a prompt first: it begins a session.";

/** Why the intent cannot be selected now; empty: it can. */
function obstacleOf(
  { selectable }: GovernedIntent,
  { canSelect, isAccepted }: { readonly canSelect: boolean; readonly isAccepted: boolean },
): string {
  if (!selectable) return "Only an intent in progress can be selected.";
  if (!isAccepted) return "Accept these intents first.";
  return canSelect ? "" : needsSession;
}

interface IntentEntryProps {
  readonly intent: GovernedIntent;
  readonly isActive: boolean;
  readonly busy: boolean;
  /** See {@link obstacleOf}. */
  readonly obstacle: string;
  readonly onSelect: () => void;
}

function IntentEntry({ intent, isActive, busy, obstacle, onSelect }: IntentEntryProps) {
  const id = useId();
  return (
    <li class={isActive ? "intent-active" : ""} aria-current={isActive ? "true" : undefined}>
      <div class="g-row">
        <span>
          <VisibleText in="code" text={intent.id} /> <VisibleText text={intent.name} />
        </span>
        <VisibleText in="span" class="badge" text={intent.status} />
        {isActive ? (
          <span class="badge badge-good">selected</span>
        ) : (
          <>
            <button
              type="button"
              class="button button-quiet"
              disabled={busy || obstacle !== ""}
              aria-describedby={obstacle === "" ? undefined : `${id}-why`}
              aria-label={`Select ${intent.id}`}
              onClick={onSelect}
            >
              Select
            </button>
            {obstacle !== "" && (
              <span id={`${id}-why`} class="g-quiet">
                {obstacle}
              </span>
            )}
          </>
        )}
      </div>
      <details>
        <summary>Scope and constraints</summary>
        <ul class="g-paths" aria-label="Scope">
          {intent.ownedScope.map((scope) => (
            <VisibleText in="li" key={scope} text={scope} />
          ))}
        </ul>
        {intent.constraints.map((constraint) => (
          <VisibleText in="p" key={constraint} class="g-quiet" text={constraint} />
        ))}
      </details>
    </li>
  );
}
