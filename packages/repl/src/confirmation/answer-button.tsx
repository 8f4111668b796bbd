import type { Arming } from "@gennai/client/questions/arming";
import type { ComponentChildren } from "preact";

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
export function AnswerButton(props: AnswerButtonProps) {
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
