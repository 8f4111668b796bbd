import type { Signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { Icon } from "../look/icon.tsx";

export interface FoldButtonProps {
  readonly class: string;
  readonly open: Signal<boolean>;
  readonly children: ComponentChildren;
}

export function FoldButton({ class: name, open, children }: FoldButtonProps) {
  return (
    <button
      type="button"
      class={name}
      aria-expanded={open.value}
      onClick={() => {
        open.value = !open.value;
      }}
    >
      <span class={open.value ? "fold fold-open" : "fold"}>
        <Icon name="chevron" />
      </span>
      {children}
    </button>
  );
}
