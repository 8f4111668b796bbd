import type { StandingAnswer } from "@gennai/client/governance/standing-answers";
import { useEffect } from "preact/hooks";
import { Fact } from "../look/fact.tsx";
import { ProblemNotice } from "../look/problem-notice.tsx";
import { VisibleText } from "../look/visible-text.tsx";
import { EmergencyControls } from "./emergency-controls.tsx";
import type { GovernanceStore, GovernanceView } from "./governance-store.ts";
import { IntentsSection, type ScopeExpansion } from "./intents-section.tsx";
import { ManagedLock, type ManagedPolicy, ManagedSection } from "./managed-section.tsx";
import { McpSection } from "./mcp-section.tsx";
import { RulesSection } from "./rules-section.tsx";
import type { RulesStore } from "./rules-store.ts";

export interface GovernancePanelProps {
  readonly store: GovernanceStore;
  readonly rules: RulesStore;
  readonly hasSession: boolean;
  /** Opens the file of a rule at its line. @param place `file:line` */
  readonly onOpenRule?: (place: string) => void;
  readonly expansions?: readonly ScopeExpansion[];
}

/** What governs the agent here, and the emergency switches. */
export function GovernancePanel({ store, rules, hasSession, onOpenRule, expansions = [] }: GovernancePanelProps) {
  useEffect(() => void store.load(), [store]);
  const { view, busy, problem, login, stopped } = store.state.value;
  return (
    <section class="governance g-panel" aria-label="Governance">
      {problem !== undefined && <ProblemNotice problem={problem} onDismiss={() => store.dismiss()} />}
      {stopped > 0 && (
        <p class="g-notice" role="status">
          {stopped === 1 ? "1 turn was ended." : `${stopped} turns were ended.`}
        </p>
      )}
      {view === undefined ? (
        busy ? (
          <p class="empty" role="status">
            Loading…
          </p>
        ) : (
          <button type="button" class="button button-quiet" onClick={() => void store.load()}>
            Load again
          </button>
        )
      ) : (
        <>
          <ManagedSection policies={view.managed} />
          <EmergencyControls
            managed={view.managed}
            switches={view.emergency}
            busy={busy}
            onSwitch={(control, enabled, details) => void store.switch(control, enabled, details)}
          />
          <RulesSection
            rules={view.rules}
            managed={view.managed}
            store={rules}
            hasSession={hasSession}
            onOpenRule={onOpenRule}
          />
          <IntentsSection
            {...{ view, busy, expansions }}
            canSelect={hasSession}
            onSelect={(intentId) => void store.select(intentId)}
            onAccept={(sha256) => void store.acceptIntents(sha256)}
          />
          <AnswersSection
            answers={view.answers}
            managed={view.managed}
            busy={busy}
            onRevoke={(id) => void store.revoke(id)}
          />
          <McpSection
            {...view.mcp}
            managed={view.managed}
            {...{ busy, login }}
            onAccept={(server) => void store.acceptMcp(server)}
            onLogIn={(name) => void store.logIn(name)}
            onStop={() => store.stopLogin()}
          />
          <RightsSection view={view} />
          <button
            type="button"
            class="button button-quiet"
            disabled={busy}
            onClick={() => void Promise.all([store.load(), rules.load()])}
          >
            Load again
          </button>
        </>
      )}
    </section>
  );
}

function RightsSection({ view }: { readonly view: GovernanceView }) {
  const { capabilities, isolation } = view;
  return (
    <section class="g-section" aria-labelledby="rights-title">
      <h3 id="rights-title">
        Rights and isolation <ManagedLock policies={view.managed} of="capabilities" />
      </h3>
      {capabilities.problem !== "" && (
        <p class="g-notice g-notice-bad">
          Only reading is allowed: <VisibleText text={capabilities.problem} />
        </p>
      )}
      <dl class="g-facts">
        <Fact name="Profile">
          <VisibleText text={capabilities.name === "" ? "none" : capabilities.name} />
          {capabilities.expires !== undefined && (
            <span class="g-quiet"> until {capabilities.expires.toLocaleString()}</span>
          )}
        </Fact>
        <Fact name="Allows">
          <ul class="g-chips">
            {capabilities.capabilities.map((capability) => (
              <VisibleText in="li" key={capability} text={capability} />
            ))}
          </ul>
        </Fact>
        <Fact
          name={
            <>
              Commands <ManagedLock policies={view.managed} of="require" />
            </>
          }
        >
          {isolation === "sandboxed" ? (
            <span class="isolation-on">run in the sandbox</span>
          ) : (
            <span class="isolation-off">run with your rights; no sandbox keeps them apart</span>
          )}
        </Fact>
      </dl>
    </section>
  );
}

interface AnswersSectionProps {
  readonly answers: readonly StandingAnswer[];
  readonly busy: boolean;
  readonly managed: readonly ManagedPolicy[];
  /** @param id of one answer; undefined: all */
  readonly onRevoke: (id: string | undefined) => void;
}

/** What a person agreed to for all sessions of this workspace, and buttons to revoke it. */
function AnswersSection({ answers: given, busy, managed, onRevoke }: AnswersSectionProps) {
  const answers = given.map((answer) => ({ ...answer, back: answer.kind === "login" ? "Log out" : "Ask again" }));
  return (
    <section class="g-section" aria-labelledby="answers-title">
      <h3 id="answers-title">
        Answers that stand <ManagedLock policies={managed} of="answers" />
      </h3>
      {answers.length === 0 ? (
        <p class="empty">None: every question is asked again.</p>
      ) : (
        <ul class="answers">
          {answers.map(({ id, statement, accepted, back }) => (
            <li key={id}>
              <span>
                <VisibleText text={statement} />
                {accepted !== undefined && <span class="g-quiet"> since {accepted.toLocaleDateString()}</span>}
              </span>
              <button
                type="button"
                class="button button-quiet"
                disabled={busy}
                aria-label={`${back}: ${statement}`}
                onClick={() => onRevoke(id)}
              >
                {back}
              </button>
            </li>
          ))}
        </ul>
      )}
      {answers.length > 1 && (
        <button type="button" class="button button-quiet" disabled={busy} onClick={() => onRevoke(undefined)}>
          Ask again about all
        </button>
      )}
    </section>
  );
}
