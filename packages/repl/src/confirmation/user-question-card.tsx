import {
  maxAnswerText,
  type UserAnswer,
  type UserQuestion,
  type UserReply,
} from "@gennai/protocol/model/session/user-question";
import { useId, useState } from "preact/hooks";
import { VisibleText } from "../look/visible-text.tsx";
import type { AskedQuestions } from "./confirmation-store.ts";

export interface UserQuestionCardProps {
  readonly asked: AskedQuestions;
  readonly onAnswer: (reply: UserReply) => void;
}

/**
 * A question of the model. It looks different from a question of the gate: without risk, yes or no, because no answer permits
 * anything. It does not take the focus, and every text of the model is shown as text.
 */
export function UserQuestionCard(props: UserQuestionCardProps) {
  // A new card for each question: nothing half written is carried over to the next.
  return <Card key={props.asked.id} {...props} />;
}

const unanswered: UserAnswer = { chosen: [], text: "" };

function Card({ asked: { questions }, onAnswer }: UserQuestionCardProps) {
  const id = useId();
  const [answers, setAnswers] = useState<readonly UserAnswer[]>(() => questions.map(() => unanswered));
  const said = answers.some(({ chosen, text }) => chosen.length > 0 || text.trim() !== "");
  return (
    <section class="user-question g-panel" aria-labelledby={`${id}-title`}>
      <header class="user-question-head">
        <h2 id={`${id}-title`}>The model asks you</h2>
        <span class="g-quiet">Your answer is information for it, and permits nothing.</span>
      </header>
      <p class="spoken" role="alert">
        The model asks: {questions.map(({ question }) => question).join(" ")}
      </p>
      <form
        class="user-question-form"
        onSubmit={(event) => {
          event.preventDefault();
          onAnswer({ end: "answered", answers });
        }}
      >
        {questions.map((question, index) => (
          <QuestionFields
            key={`${index}`}
            name={`${id}-${index}`}
            question={question}
            answer={answers[index] ?? unanswered}
            onAnswer={(answer) => setAnswers(answers.map((other, place) => (place === index ? answer : other)))}
          />
        ))}
        <div class="user-question-actions" role="group" aria-label="Answer">
          <button type="submit" class="button button-quiet">
            {said ? "Send answer" : "No answer: decide yourself"}
          </button>
          <button type="button" class="button button-quiet" onClick={() => onAnswer({ end: "cancelled" })}>
            Cancel
          </button>
        </div>
      </form>
    </section>
  );
}

function QuestionFields(props: {
  readonly name: string;
  readonly question: UserQuestion;
  readonly answer: UserAnswer;
  readonly onAnswer: (answer: UserAnswer) => void;
}) {
  const { name, question, answer, onAnswer } = props;
  const choose = (place: number, checked: boolean) => {
    const others = question.multiple ? answer.chosen.filter((other) => other !== place) : [];
    onAnswer({ ...answer, chosen: checked ? [...others, place] : others });
  };
  return (
    <fieldset class="user-question-fields">
      <legend>
        {question.header !== "" && <VisibleText in="span" class="user-question-label" text={question.header} />}
        <VisibleText in="span" class="user-question-text" text={question.question} />
      </legend>
      {question.options.map(({ label, description }, place) => (
        <label key={label} class="user-question-option">
          <input
            type={question.multiple ? "checkbox" : "radio"}
            name={name}
            checked={answer.chosen.includes(place)}
            onChange={({ currentTarget }) => choose(place, currentTarget.checked)}
          />
          <span>
            <VisibleText text={label} />
            {description !== "" && <VisibleText in="span" class="user-question-description" text={description} />}
          </span>
        </label>
      ))}
      <input
        class="g-field user-question-own"
        aria-label={question.options.length === 0 ? "Your answer" : "Your own words"}
        placeholder={question.options.length === 0 ? "Your answer" : "Or in your own words"}
        maxLength={maxAnswerText}
        value={answer.text}
        onInput={({ currentTarget }) => onAnswer({ ...answer, text: currentTarget.value })}
      />
    </fieldset>
  );
}
