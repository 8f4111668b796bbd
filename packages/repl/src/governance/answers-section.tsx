import type { StandingAnswer } from "@gennai/client/governance/standing-answers";
import { VisibleText } from "../look/visible-text.tsx";
import { ManagedLock, type ManagedPolicy } from "./managed-section.tsx";

export interface AnswersSectionProps {
  readonly answers: readonly StandingAnswer[];
  readonly busy: boolean;
  readonly managed: readonly ManagedPolicy[];
  /** @param id of one answer; undefined: all */
  readonly onRevoke: (id: string | undefined) => void;
}

/** What a person agreed to for all sessions of this workspace, and buttons to revoke it. */
export function AnswersSection({ answers: given, busy, managed, onRevoke }: AnswersSectionProps) {
  const answers = given.map((answer) => ({ ...answer, back: answer.kind === "login" ? "Log out" : "Ask again" }));
  return (
    <section class="g-section" aria-labelledby="answers-title">
      <h3 id="answers-title">
        Answers that stand <ManagedLock policies={managed} of="answers" />
      </h3>
      {answers.length === 0 ? (
        <p class="g-empty">None: every question is asked again.</p>
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
                class="g-button"
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
        <button type="button" class="g-button" disabled={busy} onClick={() => onRevoke(undefined)}>
          Ask again about all
        </button>
      )}
    </section>
  );
}
