import { type Signal, signal } from "@preact/signals";
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { ReplControl } from "../control/repl-control.ts";
import type { ChangeContents } from "../control/session/change-contents.ts";

/** What the chat's items share: the app's control, and what is unfolded. */
export interface ChatContext {
  readonly control: ReplControl;
  readonly folds: Folds;
  /** Contents of changed files, in place of the session's own. */
  readonly changes?: ChangeContents;
  /** Id of the set of attempts that the items belong to. */
  readonly attemptsId?: string;
}

/** What the reader opened or closed; kept although the rows themselves are removed and drawn again. */
export class Folds {
  readonly #open = new Map<string, Signal<boolean>>();

  /** @param first its state until the reader changes it */
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
