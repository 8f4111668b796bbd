import type { ConfirmationQuestion, ConfirmationReply } from "@gennai/client/connection/editor";
import type { Arming } from "@gennai/client/questions/arming";
import { keptWithout, type OfferedAnswer, offeredAnswers } from "@gennai/client/questions/offered-answers";
import { questionWords } from "@gennai/client/questions/question-words";
import { shownAction } from "@gennai/client/questions/shown-action";
import { wordsInEditor } from "@gennai/client/session/text/words-in-editor";
import type { OfferedPattern } from "@gennai/protocol/model/governance/question";
import type { ComponentChildren, RefObject } from "preact";
import { useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Fact } from "../look/fact.tsx";
import { VisibleText } from "../look/visible-text.tsx";
import { keyAnswer } from "./answer-keys.ts";
import { Countdown } from "./countdown.tsx";
import { PartsChoice } from "./parts-choice.tsx";
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
  /** Shows what would be kept, beside the card. */
  readonly onShowDiff?: (diff: string) => void;
  /** Details are shown at once. */
  readonly unfolded?: boolean;
  /** Something is still to be read: the yes is there and cannot be given. */
  readonly unread?: boolean;
}

/**
 * A question of the gate in three lines: what, why, and with which risk; the rest is folded. Its buttons say what happens. They
 * and the keys on the card answer it, but not in the first moment. The model's claims are separate from the server's findings.
 */
export function ConfirmationCard(props: ConfirmationCardProps) {
  // A new card for each question: nothing, such as a half-written reason, is carried over to the next.
  return <Card key={props.question.requestId} {...props} />;
}

function Card({ question, onAnswer, waiting = 0, onWait, onShowDiff, ...looks }: ConfirmationCardProps) {
  const { unfolded = false, unread = false } = looks;
  const id = useId();
  const root = useRef<HTMLElement>(null);
  const { armed, arming } = useArming(root);
  const [reason, setReason] = useState("");
  const [wanted, setWanted] = useState("");
  const [dropped, setDropped] = useState<ReadonlySet<string>>(nothing);
  const answered = useRef(false);
  const action = useMemo(() => shownAction(question.actionJson), [question.actionJson]);
  const answer = (reply: ConfirmationReply) => {
    if (answered.current) return;
    answered.current = true;
    onAnswer(reply);
  };
  const { computed, diff, parts, actionStatement } = question;
  const { what, no } = questionWords(question);
  useCardFocus(root);
  const offered = answersShown(question, dropped);
  const yes = offered.find((each) => each.id === wanted) ?? offered[0];
  const pattern = question.patterns?.find((each) => each.id === yes?.reply.pattern);
  const isKept = diff !== undefined || parts !== undefined;
  const deny = () => answer({ answer: "no", reason: reason.trim() });
  const byKey = (event: KeyboardEvent) => {
    const said = keyAnswer(event, arming);
    if (said === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    if (said === "deny") deny();
    else if (yes !== undefined && !unread) answer(yes.reply);
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
      <h2 id={`${id}-title`} class="confirmation-what">
        <VisibleText text={what} />
      </h2>
      <p class="spoken" role="alert">
        Question: {what} {computed.risk} risk. {actionStatement}
      </p>
      {action.command !== undefined && !isKept && (
        <VisibleText
          in="pre"
          class="g-code confirmation-command"
          aria-label="The exact command"
          tabIndex={0}
          text={action.command}
        />
      )}
      <VisibleText in="p" class="confirmation-why" text={computed.reason === "" ? computed.rule : computed.reason} />
      <div class="confirmation-risk">
        <RiskMark risk={computed.risk} />
        {question.impactStatement !== "" && (
          <VisibleText in="span" class="confirmation-impact" text={question.impactStatement} />
        )}
        <Countdown deadline={question.deadline} />
        {waiting > 0 && <span class="g-quiet">{waiting} more waiting</span>}
      </div>

      <div class="confirmation-actions" role="group" aria-label="Answer">
        {yes !== undefined && (
          <AnswerButton
            name={yes.id}
            class={`button confirmation-answer${computed.risk === "high" ? " button-quiet" : ""}`}
            title={`${isMac ? "⌘" : "Ctrl"}+Enter`}
            disabled={unread}
            {...{ armed, arming }}
            onAnswer={() => answer(yes.reply)}
          >
            {offered.length > 1 ? questionWords(question).yes : yes.words}
          </AnswerButton>
        )}
        <AnswerButton
          name="deny"
          class="button button-quiet confirmation-answer"
          title={`${isMac ? "⌘" : "Ctrl"}+Backspace`}
          {...{ armed, arming }}
          onAnswer={deny}
        >
          {no}
        </AnswerButton>
        {offered.length > 1 && yes !== undefined && (
          <select
            class="g-field confirmation-scope"
            aria-label="How long the yes lasts, and for what"
            value={yes.id}
            onChange={({ currentTarget }) => setWanted(currentTarget.value)}
          >
            {offered.map((each) => (
              <option key={each.id} value={each.id}>
                {each.id === "rest" ? "only what needs no question" : each.lasts}
              </option>
            ))}
          </select>
        )}
        {diff !== undefined && onShowDiff !== undefined && (
          <button type="button" class="link" onClick={() => onShowDiff(diff)}>
            Show change
          </button>
        )}
        {question.deadline !== undefined && onWait !== undefined && (
          <button type="button" class="link" title="The count stops, for every window" onClick={onWait}>
            Wait for me
          </button>
        )}
      </div>

      {pattern !== undefined && <Reach pattern={pattern} />}
      <details class="confirmation-details" open={unfolded}>
        <summary>{parts === undefined ? "Details" : `Choose among ${parts.length}, and details`}</summary>
        {parts !== undefined && <PartsChoice parts={parts} dropped={dropped} onDropped={setDropped} />}
        <input
          class="g-field confirmation-reason"
          aria-label="Reason for the model"
          placeholder="Why not? The model is told (optional)"
          value={reason}
          onInput={(event) => setReason(event.currentTarget.value)}
        />
        {question.modelClaim !== "" && (
          <div class="confirmation-claim">
            <h3>What the model says (not checked)</h3>
            <VisibleText in="blockquote" text={question.modelClaim} />
          </div>
        )}
        <dl class="g-facts confirmation-computed">
          <Fact name="Does">
            <VisibleText text={actionStatement} />
            {action.cwd !== "" && <VisibleText text={` in ${action.cwd}`} />}
          </Fact>
          <Fact name="Rule">
            <VisibleText in="code" text={computed.rule} />
          </Fact>
          <Fact name="Intent">
            <VisibleText text={question.intentReflection} />
          </Fact>
          {question.rememberStatement !== "" && (
            <Fact name="A yes">
              <VisibleText text={wordsInEditor(question.rememberStatement)} />
            </Fact>
          )}
          {computed.paths.length > 0 && parts === undefined && (
            <Fact name={computed.paths.length === 1 ? "Path" : "Paths"}>
              <Paths paths={computed.paths} />
            </Fact>
          )}
          {action.arguments.map(({ name, value }) => (
            <Fact key={name} name={<VisibleText text={name} />}>
              <VisibleText in="pre" class="g-code confirmation-value" tabIndex={0} text={value} />
            </Fact>
          ))}
          <Fact name="Exactly">
            <VisibleText in="pre" class="g-code confirmation-value" tabIndex={0} text={question.actionJson} />
          </Fact>
        </dl>
      </details>
    </section>
  );
}

/**
 * The answers that differ, the narrowest first. Changes that were found are kept once: a longer yes for exactly these would never
 * be used. Where some parts are not ticked, there is a yes for the others alone.
 */
function answersShown(question: ConfirmationQuestion, dropped: ReadonlySet<string>): readonly OfferedAnswer[] {
  if (dropped.size > 0) {
    if (dropped.size === question.parts?.length) return [];
    return [{ id: "ticked", words: "Keep what is ticked", lasts: "once", reply: keptWithout([...dropped]) }];
  }
  const offered = offeredAnswers(question);
  return question.diff === undefined ? offered : offered.filter(({ id }) => id !== "turn" && id !== "session");
}

const nothing: ReadonlySet<string> = new Set();
const isMac = /mac/i.test(navigator.userAgent);

/** What a pattern reaches, with examples. */
function Reach({ pattern }: { readonly pattern: OfferedPattern }) {
  return (
    <dl class="g-facts remember-reach">
      <Examples name="Rule" examples={[pattern.rule]} />
      <Examples name="Covered before" examples={pattern.matchedBefore} />
      <Examples name="Would cover" examples={pattern.wouldMatch} />
      <Examples name="Never covers" examples={pattern.wouldNotMatch} />
    </dl>
  );
}

function Examples({ name, examples }: { readonly name: string; readonly examples: readonly string[] }) {
  if (examples.length === 0) return null;
  return (
    <div>
      <dt>{name}</dt>
      {examples.map((example) => (
        <dd key={example}>
          <VisibleText in="code" text={example} />
        </dd>
      ))}
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
        <VisibleText in="li" key={path} text={path} />
      ))}
      {shown.length < paths.length && (
        <li>
          <button type="button" class="button button-quiet" onClick={() => setAll(true)}>
            Show {paths.length - shown.length} more
          </button>
        </li>
      )}
    </ul>
  );
}

/**
 * Gives a card the focus when it appears, and gives the focus back when the card goes. It does not take the focus from a person
 * who is writing, or in a window that has no focus.
 */
function useCardFocus(card: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    const element = card.current;
    const before = document.activeElement;
    if (element !== null && document.hasFocus() && !isWriting(before)) element.focus({ preventScroll: true });
    return () => {
      const focused = document.activeElement;
      const isInside = element !== null && focused !== null && element.contains(focused);
      if (isInside && before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
    };
  }, [card]);
}

/** True in a non-empty field, and in an editor. */
function isWriting(element: Element | null): boolean {
  if (element instanceof HTMLTextAreaElement || element instanceof HTMLInputElement) return element.value !== "";
  return element instanceof HTMLElement && element.isContentEditable;
}

interface AnswerButtonProps {
  readonly name: string;
  readonly class: string;
  readonly armed: boolean;
  readonly arming: Arming;
  readonly disabled?: boolean;
  readonly title?: string;
  readonly onAnswer: () => void;
  readonly children: ComponentChildren;
}

/** A button of a question. It can be focused from the start, so that the focus does not jump when the question is armed. */
function AnswerButton(props: AnswerButtonProps) {
  const { name, armed, arming, disabled = false, title, onAnswer, children } = props;
  return (
    <button
      type="button"
      class={props.class}
      title={title}
      disabled={disabled}
      aria-disabled={!armed}
      onPointerDown={() => arming.begin(name, { repeat: false })}
      onKeyDown={({ key, repeat }) => {
        if (key === "Enter" || key === " ") arming.begin(name, { repeat });
      }}
      onBlur={() => arming.leave(name)}
      onClick={() => {
        if (arming.takes(name)) onAnswer();
      }}
    >
      {children}
    </button>
  );
}
