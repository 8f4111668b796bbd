import { type Signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

export interface PopoverProps {
  readonly label: ComponentChildren;
  readonly title: string;
  readonly buttonClass?: string;
  readonly onOpen?: () => void;
  /** Whether it is open, if others open it, too. It then stays when the window loses the focus, e.g. to fetch a key. */
  readonly opened?: Signal<boolean>;
  readonly children: (close: () => void) => ComponentChildren;
}

/** A button that opens a small window. Escape and a click elsewhere close it; the button gets the focus back. */
export function Popover({ label, title, buttonClass = "chip", onOpen, opened, children }: PopoverProps) {
  const own = useSignal(false);
  const shown = opened ?? own;
  const open = shown.value;
  const stays = opened !== undefined;
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const close = () => {
    shown.value = false;
    button.current?.focus();
  };
  useEffect(() => {
    if (!open) return undefined;
    root.current?.querySelector<HTMLElement>(".popover :is(input, select, button)")?.focus();
    const elsewhere = (event: Event) => {
      if (event.target instanceof Node && root.current?.contains(event.target) === false) shown.value = false;
    };
    document.addEventListener("pointerdown", elsewhere);
    if (!stays) window.addEventListener("blur", elsewhere);
    return () => {
      document.removeEventListener("pointerdown", elsewhere);
      window.removeEventListener("blur", elsewhere);
    };
  }, [open, shown, stays]);
  return (
    <div
      ref={root}
      class="popover-root"
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !open) return;
        event.stopPropagation();
        close();
      }}
    >
      <button
        ref={button}
        type="button"
        class={buttonClass}
        title={title}
        aria-haspopup="dialog"
        aria-expanded={open}
        onClick={() => {
          if (!open) onOpen?.();
          shown.value = !open;
        }}
      >
        {label}
      </button>
      {open && (
        <div class="popover" role="dialog" aria-label={title}>
          {children(close)}
        </div>
      )}
    </div>
  );
}
