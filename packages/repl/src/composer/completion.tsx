import { useEffect, useRef, useState } from "preact/hooks";
import { Icon, type IconName } from "../icons/icon.tsx";

/** A suggestion that can replace the text being typed in the box. */
export interface CompletionOption {
  /** What is shown of it; no two of a list are the same. */
  readonly name: string;
  /** What it is, beside the name; empty: nothing. */
  readonly detail: string;
  readonly icon: IconName;
  /** The whole text of the box once it is chosen, and the new caret position. */
  readonly done: { readonly text: string; readonly caret: number };
  /** There is more to choose behind it, e.g. in a folder. */
  readonly goesOn: boolean;
}

/** What completes the text at the caret; undefined: this source has nothing to say here. Rejects when it cannot be had. */
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
  /** Call it when the text or the caret changed. */
  typed(text: string, caret: number): void;
  /** True when the key was for the suggestions. */
  key(event: KeyboardEvent): boolean;
  choose(option: CompletionOption): void;
  close(): void;
}

/** Completes what is being typed, by the first source that has something to say. */
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
        // Completion is a help: without it one types on.
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
    // Typed out already: Enter sends.
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
          // Before the box loses the caret.
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
