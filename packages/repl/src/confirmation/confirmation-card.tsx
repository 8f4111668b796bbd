import type { ConfirmationQuestion, ConfirmationReply } from "@gennai/client/connection/editor";
import { keptWithout, type OfferedAnswer, offeredAnswers } from "@gennai/client/questions/offered-answers";
import { shownAction } from "@gennai/client/questions/shown-action";
import type { ComponentChildren } from "preact";
import { useId, useMemo, useRef, useState } from "preact/hooks";
import { VisibleText } from "../look/visible-text.tsx";
import { AnswerButton } from "./answer-button.tsx";
import { keyAnswer } from "./answer-keys.ts";
import { useCardFocus } from "./card-focus.ts";
import { ChangeDiff } from "./change-diff.tsx";
import { Countdown } from "./countdown.tsx";
import { PartsChoice } from "./parts-choice.tsx";
import { RememberChoice } from "./remember-choice.tsx";
import { RiskMark } from "./risk-mark.tsx";
import { useArming } from "./use-arming.ts";

export interface ConfirmationCardProps {
  readonly question: ConfirmationQuestion;
  /** Called exactly once, with the person's answer. */
  readonly onAnswer: (reply: ConfirmationReply) => void;
  /** Number of questions that wait behind this one. */
  readonly waiting?: number;
  /** Called when the person wants the countdown to stop; undefined if it cannot. */
  readonly onWait?: () => void;
}

/**
 * A question of the gate. Its buttons, and the keys on its card, answer it, but not in the first moment. The model's claims are
 * separate from the server's findings.
 */
export function ConfirmationCard(props: ConfirmationCardProps) {
  // A new card for each question: nothing, such as a half-written reason, is carried over to the next.
  return <Card key={props.question.requestId} {...props} />;
}

function Card({ question, onAnswer, waiting = 0, onWait }: ConfirmationCardProps) {
  const id = useId();
  const root = useRef<HTMLElement>(null);
  const { armed, arming } = useArming(root);
  const [reason, setReason] = useState("");
  const [pattern, setPattern] = useState<string>();
  const [dropped, setDropped] = useState<ReadonlySet<string>>(nothing);
  const answered = useRef(false);
  const action = useMemo(() => shownAction(question.actionJson), [question.actionJson]);
  const answer = (reply: ConfirmationReply) => {
    if (answered.current) return;
    answered.current = true;
    onAnswer(reply);
  };
  const { computed } = question;
  useCardFocus(root);
  const offered = answersShown(question, pattern, dropped);
  const deny = () => answer({ answer: "no", reason: reason.trim() });
  const byKey = (event: KeyboardEvent) => {
    const said = keyAnswer(event, arming);
    if (said === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const once = offered.find(({ reply }) => reply.scope === "once");
    if (said === "deny") deny();
    else if (once !== undefined) answer(once.reply);
  };
  return (
    <section
      ref={root}
      tabIndex={-1}
      onKeyDown={byKey}
      class={`confirmation confirmation-${computed.risk} g-panel`}
      aria-labelledby={`${id}-title`}
      onPointerLeave={() => arming.leave()}
    >
      <header class="confirmation-head">
        <h2 id={`${id}-title`}>
          <VisibleText text={question.title} />
        </h2>
        <RiskMark risk={computed.risk} />
        <Countdown deadline={question.deadline} />
        {question.deadline !== undefined && onWait !== undefined && (
          <button type="button" class="g-button" title="The count stops, for every window" onClick={onWait}>
            Wait for me
          </button>
        )}
        {waiting > 0 && <span class="g-quiet">{waiting} more waiting</span>}
      </header>
      <p class="g-spoken" role="alert">
        Question: {question.title} {computed.risk} risk. {question.actionStatement}
      </p>

      <div class="confirmation-computed">
        <h3>What the server found</h3>
        <p class="confirmation-statement">
          <VisibleText text={question.actionStatement} />
        </p>
        {action.command !== undefined && (
          <pre class="g-code confirmation-command" aria-label="The exact command" tabIndex={0}>
            <VisibleText text={action.command} />
          </pre>
        )}
        {action.cwd !== "" && (
          <p class="g-quiet">
            in <VisibleText text={action.cwd} />
          </p>
        )}
        {question.impactStatement !== "" && (
          <p class="confirmation-impact">
            <VisibleText text={question.impactStatement} />
          </p>
        )}
        {question.parts !== undefined && (
          <PartsChoice parts={question.parts} dropped={dropped} onDropped={setDropped} />
        )}
        {question.diff !== undefined && <ChangeDiff diff={question.diff} />}
        <dl class="g-facts">
          <Fact name="Intent">
            <VisibleText text={question.intentReflection} />
          </Fact>
          <Fact name="Rule">
            <code>
              <VisibleText text={computed.rule} />
            </code>
            {computed.reason !== "" && (
              <>
                {" "}
                <VisibleText text={computed.reason} />
              </>
            )}
          </Fact>
          {computed.paths.length > 0 && question.parts === undefined && (
            <Fact name={computed.paths.length === 1 ? "Path" : "Paths"}>
              <Paths paths={computed.paths} />
            </Fact>
          )}
        </dl>
        <details>
          <summary>The exact action</summary>
          {action.arguments.length > 0 && (
            <dl class="g-facts">
              {action.arguments.map(({ name, value }) => (
                <Fact key={name} name={<VisibleText text={name} />}>
                  <pre class="g-code confirmation-value" tabIndex={0}>
                    <VisibleText text={value} />
                  </pre>
                </Fact>
              ))}
            </dl>
          )}
          <pre class="g-code confirmation-value" tabIndex={0}>
            <VisibleText text={question.actionJson} />
          </pre>
        </details>
      </div>

      {question.modelClaim !== "" && (
        <div class="confirmation-claim">
          <h3>What the model says (not checked)</h3>
          <blockquote>
            <VisibleText text={question.modelClaim} />
          </blockquote>
        </div>
      )}

      <RememberChoice {...{ question, pattern }} onPattern={setPattern} />
      <div class="confirmation-actions" role="group" aria-label="Answer">
        {offered.map(({ id: name, words, reply }) => (
          <AnswerButton
            key={name}
            class="g-button confirmation-answer"
            {...{ name, armed, arming }}
            onAnswer={() => answer(reply)}
          >
            {words}
          </AnswerButton>
        ))}
        <span class="confirmation-deny">
          <input
            class="g-field"
            aria-label="Reason for the model"
            placeholder="Reason for a no (optional)"
            value={reason}
            onInput={(event) => setReason(event.currentTarget.value)}
          />
          <AnswerButton name="deny" class="g-button confirmation-answer" {...{ armed, arming }} onAnswer={deny}>
            Deny
          </AnswerButton>
        </span>
        <span class="confirmation-keys">
          {isMac ? "⌘" : "Ctrl"}+Enter allows once, {isMac ? "⌘" : "Ctrl"}+Backspace denies
        </span>
      </div>
    </section>
  );
}

/** A yes for a turn or session is for the chosen pattern; where some parts are not ticked, there is one for the others alone. */
function answersShown(
  question: ConfirmationQuestion,
  pattern: string | undefined,
  dropped: ReadonlySet<string>,
): readonly OfferedAnswer[] {
  if (dropped.size > 0) {
    if (dropped.size === question.parts?.length) return [];
    return [{ id: "ticked", words: "Keep what is ticked", reply: keptWithout([...dropped]) }];
  }
  const offered = offeredAnswers(question);
  return offered
    .filter(({ reply }) => reply.pattern === undefined)
    .map((each) => ({ ...each, reply: offered.find(({ id }) => id === `${each.id}:${pattern}`)?.reply ?? each.reply }));
}

const nothing: ReadonlySet<string> = new Set();
const isMac = /mac/i.test(navigator.userAgent);

function Fact({ name, children }: { readonly name: ComponentChildren; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

const pathsShown = 8;

function Paths({ paths }: { readonly paths: readonly string[] }) {
  const [all, setAll] = useState(false);
  const shown = all ? paths : paths.slice(0, pathsShown);
  return (
    <ul class="g-paths">
      {shown.map((path) => (
        <li key={path}>
          <VisibleText text={path} />
        </li>
      ))}
      {shown.length < paths.length && (
        <li>
          <button type="button" class="g-button" onClick={() => setAll(true)}>
            Show {paths.length - shown.length} more
          </button>
        </li>
      )}
    </ul>
  );
}
