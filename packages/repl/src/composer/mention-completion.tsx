import {
  canMention,
  completeMention,
  mentionAt,
  namedMentions,
  type TypedMention,
} from "@gennai/client/session/mentions";
import { useEffect, useRef, useState } from "preact/hooks";
import type { ReplControl } from "../control/repl-control.ts";
import { Icon } from "../icons/icon.tsx";

/** Milliseconds of quiet before the server is asked. */
const quiet = 80;
const shown = 8;

interface Suggestions {
  readonly mention: TypedMention;
  readonly caret: number;
  readonly paths: readonly string[];
  readonly chosen: number;
}

export interface MentionCompletion {
  readonly suggestions: Suggestions | undefined;
  /** Call it when the text or the caret changed. */
  typed(text: string, caret: number): void;
  /** True when the key was for the suggestions. */
  key(event: KeyboardEvent): boolean;
  choose(path: string): void;
  close(): void;
}

/** Paths that complete the `@` that is being typed. The server knows which there are and which the agent may have. */
export function useMentions(
  control: ReplControl,
  text: string,
  write: (text: string, caret: number) => void,
): MentionCompletion {
  const [suggestions, setSuggestions] = useState<Suggestions>();
  const asking = useRef<AbortController>(undefined);
  const close = () => {
    asking.current?.abort();
    setSuggestions(undefined);
  };
  useEffect(() => () => asking.current?.abort(), []);

  const ask = async (mention: TypedMention, caret: number, signal: AbortSignal) => {
    const sessionId = control.followed.value?.session.sessionId;
    const named = namedMentions.filter((name) => name.startsWith(mention.prefix));
    try {
      await new Promise((resolve) => setTimeout(resolve, quiet));
      if (signal.aborted) return;
      const place = { sessionId: sessionId ?? "", workingDir: control.home.launch.workspace ?? "" };
      const found = (await control.agent.listPaths({ ...place, prefix: mention.prefix, limit: shown }, { signal }))
        .paths;
      if (signal.aborted) return;
      const paths = [...named, ...found.filter(canMention)].slice(0, shown);
      setSuggestions(paths.length === 0 ? undefined : { mention, caret, paths, chosen: 0 });
    } catch {
      // Completion is a help: without it one types on.
      if (!signal.aborted) setSuggestions(undefined);
    }
  };
  const choose = (path: string) => {
    if (suggestions === undefined) return;
    const done = completeMention(text, suggestions.caret, suggestions.mention, path);
    close();
    write(done.text, done.caret);
    if (path.endsWith("/")) typed(done.text, done.caret);
  };
  const typed = (now: string, caret: number) => {
    asking.current?.abort();
    const mention = mentionAt(now, caret);
    if (mention === undefined) return setSuggestions(undefined);
    asking.current = new AbortController();
    void ask(mention, caret, asking.current.signal);
  };
  const key = (event: KeyboardEvent): boolean => {
    if (suggestions === undefined) return false;
    const { paths, chosen } = suggestions;
    if (event.key === "Escape") close();
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const step = event.key === "ArrowDown" ? 1 : paths.length - 1;
      setSuggestions({ ...suggestions, chosen: (chosen + step) % paths.length });
    } else if ((event.key === "Enter" && !event.shiftKey) || event.key === "Tab") choose(paths[chosen] ?? "");
    else return false;
    event.preventDefault();
    return true;
  };
  return { suggestions, typed, key, choose, close };
}

export const mentionListId = "composer-mentions";

export function MentionList({ completion }: { readonly completion: MentionCompletion }) {
  const { suggestions } = completion;
  if (suggestions === undefined) return null;
  return (
    <div id={mentionListId} class="mentions" role="listbox" aria-label="Files to mention">
      {suggestions.paths.map((path, index) => (
        <div
          key={path}
          id={`${mentionListId}-${index}`}
          role="option"
          tabIndex={-1}
          aria-selected={index === suggestions.chosen}
          class={index === suggestions.chosen ? "mention mention-chosen" : "mention"}
          // Before the box loses the caret.
          onMouseDown={(event) => {
            event.preventDefault();
            completion.choose(path);
          }}
        >
          <Icon name={path.endsWith("/") ? "chevron" : "file"} />
          <span class="mention-path">{path}</span>
        </div>
      ))}
    </div>
  );
}
