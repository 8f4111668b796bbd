import type { Arming } from "@gennai/client/questions/arming";

/** The answer that a key on the card gives; undefined: none. */
export type KeyAnswer = "allow" | "deny" | undefined;

interface PressedKey {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly shiftKey: boolean;
  readonly repeat: boolean;
  readonly target: EventTarget | null;
}

/**
 * The keys of a question, while the focus is on its card: Ctrl+Enter (⌘+Enter) allows once, Ctrl+Backspace (⌘+Backspace) denies.
 * In the field for the reason, Enter sends the no, and no key means yes. As with the buttons, a key that was already down when
 * the question appeared, or that repeats, does not answer it.
 */
export function keyAnswer(event: PressedKey, arming: Arming): KeyAnswer {
  const wanted = wantedBy(event);
  if (wanted === undefined) return undefined;
  arming.begin(wanted, event);
  return arming.takes(wanted) ? wanted : undefined;
}

function wantedBy({ key, ctrlKey, metaKey, altKey, shiftKey, target }: PressedKey): KeyAnswer {
  const inField = target instanceof HTMLInputElement && target.type !== "checkbox" && target.type !== "radio";
  if (inField) return key === "Enter" ? "deny" : undefined;
  if (altKey || shiftKey || ctrlKey === metaKey) return undefined;
  if (key === "Enter") return "allow";
  return key === "Backspace" ? "deny" : undefined;
}
