import { type Signal, signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { ChangeContents } from "../changes/change-contents.ts";
import type { ReplControl } from "../control/repl-control.ts";

/** What the items of the chat share: who acts, and what is folded out. */
export interface ChatContext {
  readonly control: ReplControl;
  readonly folds: Folds;
  /** Where the contents of changed files come from, in place of the session's own. */
  readonly changes?: ChangeContents;
  /** The attempts that they belong to. */
  readonly attemptsId?: string;
}

/** What the reader opened or closed, kept while the rows themselves come and go. */
export class Folds {
  readonly #open = new Map<string, Signal<boolean>>();

  /** @param first state until the reader changes it */
  of(key: string, first: boolean): Signal<boolean> {
    const known = this.#open.get(key);
    if (known !== undefined) return known;
    const fresh = signal(first);
    this.#open.set(key, fresh);
    return fresh;
  }
}

const context = createContext<ChatContext | undefined>(undefined);

export const ChatProvider = context.Provider;

export function useChat(): ChatContext {
  const value = useContext(context);
  if (value === undefined) throw new Error("Items of the chat stand inside the chat.");
  return value;
}
