import type { ReplPanel } from "@gennai/client/host/host-messages";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { ConfirmationCard } from "../confirmation/confirmation-card.tsx";
import { UserQuestionCard } from "../confirmation/user-question-card.tsx";
import type { ReplControl } from "../control/repl-control.ts";

/** The oldest question to this user, those of the gate first. It is above the prompt, whatever panel is shown. */
export function QuestionTray({ control }: { readonly control: ReplControl }) {
  /** The panel to go back to after the answer; undefined: a person has not left it for the question. */
  const before = useRef<ReplPanel | undefined>(undefined);
  const open = control.confirmations.open.value;
  const first = open[0];
  const asked = control.userQuestions.open.value[0];
  if (first === undefined && asked !== undefined) {
    return (
      <QuestionPlace id={asked.id}>
        <UserQuestionCard asked={asked} onAnswer={(reply) => control.userQuestions.answer(asked.id, reply)} />
      </QuestionPlace>
    );
  }
  if (first === undefined) return null;
  const { openText } = control.host;
  const show = (diff: string) => {
    if (openText !== undefined) return void openText({ title: "what would be kept.diff", text: diff, kind: "diff" });
    before.current ??= control.panel.value;
    control.panel.value = "review";
  };
  return (
    <QuestionPlace id={first.requestId}>
      <ConfirmationCard
        question={first}
        waiting={open.length - 1}
        // What another person agreed to waits no longer than that holds.
        {...(first.agreedBy === undefined ? { onWait: () => void control.waitFor(first) } : {})}
        onShowDiff={show}
        onAnswer={(reply) => {
          if (before.current !== undefined) control.panel.value = before.current;
          before.current = undefined;
          control.confirmations.answer(first.requestId, reply);
        }}
      />
    </QuestionPlace>
  );
}

interface QuestionPlaceProps {
  /** Id of the question: a new one is scrolled into view. */
  readonly id: string;
  readonly children: ComponentChildren;
}

/**
 * The place of questions, above the prompt. If there is little room, the page scrolls instead of the question, whose beginning is
 * shown first.
 */
function QuestionPlace({ id, children }: QuestionPlaceProps) {
  const place = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const app = place.current?.closest(".app");
    if (app === null || app === undefined || place.current === null) return;
    // Scrolls only the page: an outer element would stay scrolled after the question has gone.
    app.scrollTop += place.current.getBoundingClientRect().top - app.getBoundingClientRect().top;
  }, [id]);
  return (
    <div class="question-tray" ref={place}>
      {children}
    </div>
  );
}
