import {
  type SessionSummary,
  sessionWords,
  stateOf,
  titleOf,
  waitingBeside,
} from "@gennai/client/session/session-list";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ReplControl } from "../control/repl-control.ts";
import { Icon } from "../look/icon.tsx";
import { Popover } from "../look/popover.tsx";

/** The sessions: go to one, rename, copy or delete one. Its button says how many others wait for an answer. */
export function SessionMenu({ control }: { readonly control: ReplControl }) {
  const shown = control.followed.value?.session.sessionId;
  const waiting = waitingBeside(control.directory.sessions.value, shown);
  useEffect(() => {
    // A window of VS Code looks for no server on its own.
    if (shown === undefined && control.host.kind === "editor") return undefined;
    const end = new AbortController();
    let looking = new AbortController();
    const look = () => {
      looking.abort();
      looking = new AbortController();
      const signal = AbortSignal.any([end.signal, looking.signal]);
      void control.sessions.watch(() => document.visibilityState === "visible", signal);
    };
    look();
    window.addEventListener("focus", look, { signal: end.signal });
    return () => end.abort();
  }, [control, shown]);
  return (
    <Popover
      label={
        <>
          <Icon name="history" />
          <span class="spoken">Sessions</span>
          {waiting > 0 && (
            <span class="count count-bad" aria-hidden="true">
              {waiting}
            </span>
          )}
        </>
      }
      title={waiting === 0 ? "Sessions" : `Sessions, of which ${waiting === 1 ? "1 waits" : `${waiting} wait`} for you`}
      buttonClass="tool-button"
      onOpen={() => void control.sessions.list()}
    >
      {(close) => <SessionList control={control} close={close} />}
    </Popover>
  );
}

const longestTitle = 200;
/** Most rows that are drawn; a search finds the others. */
const drawn = 100;

function SessionList({ control, close }: { readonly control: ReplControl; readonly close: () => void }) {
  const [filter, setFilter] = useState("");
  const [renaming, setRenaming] = useState<string>();
  const [deleting, setDeleting] = useState<string>();
  const followed = control.followed.value?.session;
  const shown = followed?.sessionId;
  const here = followed?.workingDir ?? control.host.launch.workspace ?? "";
  const wanted = filter.trim().toLowerCase();
  const found = control.directory.sessions.value.filter((session) => titleOf(session).toLowerCase().includes(wanted));
  const sessions = found.slice(0, drawn);
  const leaving = found.find(({ sessionId }) => sessionId === deleting);
  const search = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (deleting === undefined && renaming === undefined) search.current?.focus();
  }, [deleting, renaming]);
  const open = ({ sessionId }: SessionSummary) => {
    close();
    if (sessionId !== shown) void control.sessions.switchTo(sessionId);
  };
  if (leaving !== undefined) {
    return (
      <DeleteQuestion
        session={leaving}
        onAnswer={(agreed) => {
          setDeleting(undefined);
          if (agreed) void control.sessions.delete(leaving.sessionId);
        }}
      />
    );
  }
  return (
    <div class="sessions">
      <input
        ref={search}
        type="search"
        class="sessions-search"
        placeholder="Search sessions"
        aria-label="Search sessions"
        value={filter}
        onInput={({ currentTarget }) => setFilter(currentTarget.value)}
        onKeyDown={(event) => {
          const [first] = sessions;
          if (event.key !== "Enter" || event.isComposing || wanted === "" || first === undefined) return;
          // Otherwise the button that gets the focus back would take this Enter as a press.
          event.preventDefault();
          open(first);
        }}
      />
      <p class="quiet" role="status">
        {foundWords(found.length, filter.trim())}
      </p>
      <ul>
        {sessions.map((session) =>
          session.sessionId === renaming ? (
            <li key={session.sessionId} class="session">
              <TitleForm
                title={session.title}
                onDone={(title) => {
                  setRenaming(undefined);
                  if (title !== undefined && title !== session.title)
                    void control.sessions.rename(session.sessionId, title);
                }}
              />
            </li>
          ) : (
            <li key={session.sessionId} class={session.sessionId === shown ? "session selected" : "session"}>
              <button
                type="button"
                class="session-open"
                aria-current={session.sessionId === shown}
                onClick={() => open(session)}
              >
                <span class="session-title">{titleOf(session)}</span>
                <span class={stateOf(session) === "waiting" ? "session-words tone-warn" : "session-words quiet"}>
                  {[sessionWords(session, here), ago(session.updated)].filter((word) => word !== "").join(" · ")}
                </span>
              </button>
              <button
                type="button"
                class="tool-button"
                title="Rename"
                aria-label={`Rename ${titleOf(session)}`}
                onClick={() => setRenaming(session.sessionId)}
              >
                <Icon name="edit" />
              </button>
              <button
                type="button"
                class="tool-button"
                title="Go on in a copy"
                aria-label={`Go on in a copy of ${titleOf(session)}`}
                onClick={() => {
                  close();
                  void control.sessions.fork(session.sessionId);
                }}
              >
                <Icon name="fork" />
              </button>
              <button
                type="button"
                class="tool-button"
                title="Delete…"
                aria-label={`Delete ${titleOf(session)}…`}
                onClick={() => setDeleting(session.sessionId)}
              >
                <Icon name="trash" />
              </button>
            </li>
          ),
        )}
      </ul>
      {shown !== undefined && (
        <div class="popover-buttons">
          <button
            type="button"
            class="link"
            title="The model forgets the conversation; the log stays"
            onClick={() => {
              close();
              void control.sessions.clear();
            }}
          >
            <Icon name="trash" /> Clear this conversation
          </button>
        </div>
      )}
    </div>
  );
}

interface DeleteQuestionProps {
  readonly session: SessionSummary;
  readonly onAnswer: (agreed: boolean) => void;
}

/** Says what is deleted, and asks once. */
function DeleteQuestion({ session, onAnswer }: DeleteQuestionProps) {
  const id = useId();
  const keep = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => keep.current?.focus(), []);
  const isRunning = session.runningTurnId !== "";
  return (
    <div
      class="session-delete"
      role="alertdialog"
      aria-labelledby={`${id}-title`}
      aria-describedby={`${id}-what`}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        onAnswer(false);
      }}
    >
      <strong id={`${id}-title`}>Delete “{titleOf(session)}” for good?</strong>
      <p id={`${id}-what`} class="quiet">
        {isRunning
          ? "A turn of it runs: stop that first."
          : "The conversation is deleted, and with it undo, checkpoints and ignored files that its commands made. Your files stay as they are. The ledger still shows that something was done, but not what. Exported copies stay where they are."}
      </p>
      <div class="popover-buttons">
        {!isRunning && (
          <button type="button" class="button button-stop" onClick={() => onAnswer(true)}>
            Delete
          </button>
        )}
        <button ref={keep} type="button" class="button button-quiet" onClick={() => onAnswer(false)}>
          Keep
        </button>
      </div>
    </div>
  );
}

interface TitleFormProps {
  readonly title: string;
  /** undefined: unchanged. */
  readonly onDone: (title: string | undefined) => void;
}

function TitleForm({ title, onDone }: TitleFormProps) {
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => box.current?.select(), []);
  return (
    <form
      class="session-rename"
      onSubmit={(event) => {
        event.preventDefault();
        onDone(box.current?.value.trim() || undefined);
      }}
    >
      <input
        ref={box}
        type="text"
        aria-label="Title"
        maxLength={longestTitle}
        defaultValue={title}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return;
          event.stopPropagation();
          onDone(undefined);
        }}
      />
      <button type="submit" class="tool-button" title="Rename" aria-label="Rename">
        <Icon name="check" />
      </button>
    </form>
  );
}

/** Text about the result of a search, if the list does not show it. */
function foundWords(count: number, wanted: string): string {
  if (count === 0) return wanted === "" ? "No session yet." : `No session has “${wanted}” in its title.`;
  return count > drawn ? `The newest ${drawn} of ${count}. Search for the others by their title.` : "";
}

function ago(time: string): string {
  const minutes = Math.round((Date.now() - Date.parse(time)) / 60_000);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min ago`;
  if (minutes < 24 * 60) return `${Math.round(minutes / 60)} h ago`;
  return new Date(time).toLocaleDateString();
}
