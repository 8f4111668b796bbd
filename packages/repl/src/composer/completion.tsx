import { useEffect, useRef, useState } from "preact/hooks";
import { Icon, type IconName } from "../look/icon.tsx";

/** A suggestion that can replace the text being typed in the box. */
export interface CompletionOption {
  /** Shown text; unique in a list. */
  readonly name: string;
  /** Explanation next to the name; empty: none. */
  readonly detail: string;
  readonly icon: IconName;
  /** The whole text of the box after this choice, and the new caret position. */
  readonly done: { readonly text: string; readonly caret: number };
  /** True if more can be chosen after it, e.g. in a folder. */
  readonly goesOn: boolean;
}

/** Completes the text at the caret; undefined: this source does not apply here. Rejects if it cannot load its options. */
export type CompletionSource = (
  text: string,
  caret: number,
  signal: AbortSignal,
) => Promise<readonly CompletionOption[]> | undefined;

interface Suggestions {
  readonly options: readonly CompletionOption[];
  readonly chosen: number;
}

export interface Completion {
  readonly suggestions: Suggestions | undefined;
  /** To be called when the text or the caret has changed. */
  typed(text: string, caret: number): void;
  /** True if the key was for the suggestions. */
  key(event: KeyboardEvent): boolean;
  choose(option: CompletionOption): void;
  close(): void;
}

/** Completes what is being typed, by the first source that applies. */
export function useCompletion(
  sources: readonly CompletionSource[],
  write: (text: string, caret: number) => void,
): Completion {
  const [suggestions, setSuggestions] = useState<Suggestions>();
  const asking = useRef<AbortController>(undefined);
  const box = useRef("");
  const close = () => {
    asking.current?.abort();
    setSuggestions(undefined);
  };
  useEffect(() => () => asking.current?.abort(), []);

  const typed = (text: string, caret: number) => {
    asking.current?.abort();
    asking.current = new AbortController();
    const { signal } = asking.current;
    box.current = text;
    for (const source of sources) {
      const asked = source(text, caret, signal);
      if (asked === undefined) continue;
      void asked.then(
        (options) => {
          if (!signal.aborted) setSuggestions(options.length === 0 ? undefined : { options, chosen: 0 });
        },
        // Without completion, the user types on.
        () => {
          if (!signal.aborted) setSuggestions(undefined);
        },
      );
      return;
    }
    setSuggestions(undefined);
  };
  const choose = ({ done, goesOn }: CompletionOption) => {
    close();
    write(done.text, done.caret);
    if (goesOn) typed(done.text, done.caret);
  };
  const key = (event: KeyboardEvent): boolean => {
    if (suggestions === undefined) return false;
    const { options, chosen } = suggestions;
    const option = options[chosen];
    // The suggestion is already typed out: Enter sends.
    if (event.key === "Enter" && option?.done.text.trim() === box.current.trim()) {
      close();
      return false;
    }
    if (event.key === "Escape") close();
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const step = event.key === "ArrowDown" ? 1 : options.length - 1;
      setSuggestions({ options, chosen: (chosen + step) % options.length });
    } else if (option !== undefined && ((event.key === "Enter" && !event.shiftKey) || event.key === "Tab")) {
      choose(option);
    } else return false;
    event.preventDefault();
    return true;
  };
  return { suggestions, typed, key, choose, close };
}

export const completionListId = "composer-completion";

export function CompletionList({ completion }: { readonly completion: Completion }) {
  const { suggestions } = completion;
  if (suggestions === undefined) return null;
  return (
    <div id={completionListId} class="mentions" role="listbox" aria-label="Completions">
      {suggestions.options.map((option, index) => (
        <div
          key={option.name}
          id={`${completionListId}-${index}`}
          role="option"
          tabIndex={-1}
          aria-selected={index === suggestions.chosen}
          class={index === suggestions.chosen ? "mention mention-chosen" : "mention"}
          // Not onClick: the box must not lose the caret.
          onMouseDown={(event) => {
            event.preventDefault();
            completion.choose(option);
          }}
        >
          <Icon name={option.icon} />
          <span class="mention-path">{option.name}</span>
          {option.detail !== "" && <span class="mention-detail">{option.detail}</span>}
        </div>
      ))}
    </div>
  );
}
