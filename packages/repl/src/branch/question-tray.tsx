import type { Arming } from "@gennai/client/questions/arming";
import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { useCardFocus } from "../confirmation/card-focus.ts";
import { useArming } from "../confirmation/use-arming.ts";
import type { Failure } from "../look/failure.ts";
import { Icon } from "../look/icon.tsx";

interface QuestionTrayProps {
  readonly label: string;
  readonly situation: string;
  /** Why the last answer had no effect. */
  readonly refusal: Failure | undefined;
  readonly answers: (answering: { readonly armed: boolean; readonly arming: Arming }) => ComponentChildren;
  readonly children: ComponentChildren;
}

/** A question about the branch, above the prompt; only what was meant for it answers it. */
export function QuestionTray({ label, situation, refusal, answers, children }: QuestionTrayProps) {
  const root = useRef<HTMLElement>(null);
  const { armed, arming } = useArming(root);
  useCardFocus(root);
  return (
    <div class="question-tray">
      <section
        ref={root}
        tabIndex={-1}
        class="branch-question"
        aria-label={label}
        onPointerLeave={() => arming.leave()}
      >
        <p class="branch-situation">
          <Icon name="branch" />
          <span>{situation}</span>
        </p>
        {children}
        {refusal !== undefined && (
          <p class="branch-refusal" role="alert">
            {refusal.message} {refusal.hint}
          </p>
        )}
        <div class="branch-answers">{answers({ armed, arming })}</div>
      </section>
    </div>
  );
}
