import type { Todo, TodoPriority, TodoStatus } from "@gennai/protocol/model/session/todo";
import { useEffect, useRef, useState } from "preact/hooks";
import type { TodoStore } from "../../control/session/todo-store.ts";
import { ProblemNotice } from "../../look/problem-notice.tsx";
import { VisibleText } from "../../look/visible-text.tsx";

export interface TodoPanelProps {
  readonly store: TodoStore;
}

const statusWords: Record<TodoStatus, string> = { pending: "open", in_progress: "in progress", completed: "done" };
const nextStatus: Record<TodoStatus, TodoStatus> = {
  pending: "in_progress",
  in_progress: "completed",
  completed: "pending",
};
const priorities: readonly TodoPriority[] = ["high", "medium", "low"];

/** The session's todos; the model reads and writes the same list. */
export function TodoPanel({ store }: TodoPanelProps) {
  const todos = store.todos.value;
  const problem = store.problem.value;
  const [text, setText] = useState("");
  const [editing, setEditing] = useState<string>();
  const done = todos.filter(({ status }) => status === "completed").length;
  const list = useRef<HTMLUListElement>(null);
  return (
    <section class="todos g-panel" aria-label="Todos">
      {problem !== undefined && <ProblemNotice problem={problem} onDismiss={() => (store.problem.value = undefined)} />}
      <form
        class="todo-add"
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim() === "") return;
          store.edit({ type: "add", id: crypto.randomUUID(), content: text.trim() });
          setText("");
        }}
      >
        <input
          class="g-field"
          aria-label="New todo"
          placeholder="Add a todo"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button type="submit" class="button button-quiet" disabled={text.trim() === ""}>
          Add
        </button>
      </form>
      {todos.length === 0 ? (
        <p class="empty">Nothing to do yet.</p>
      ) : (
        <>
          <p class="g-quiet" role="status">
            {done} of {todos.length} done
          </p>
          <ul ref={list} class="todo-list" onKeyDown={(event) => moveFocus(event, list.current)}>
            {todos.map((todo) => (
              <TodoEntry
                key={todo.id}
                todo={todo}
                editing={editing === todo.id}
                onEditing={(isEditing) => setEditing(isEditing ? todo.id : undefined)}
                onChange={(change) => store.edit({ type: "change", id: todo.id, change })}
                onRemove={() => store.edit({ type: "remove", id: todo.id })}
              />
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

/** Arrow keys move to the same control of the next todo. */
function moveFocus(event: KeyboardEvent, list: HTMLElement | null): void {
  const distance = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  const target = event.target;
  if (distance === 0 || list === null || !(target instanceof HTMLButtonElement)) return;
  const kind = target.dataset["control"] ?? "";
  const same = [...list.querySelectorAll<HTMLButtonElement>("button[data-control]")].filter(
    ({ dataset }) => dataset["control"] === kind,
  );
  same[same.indexOf(target) + distance]?.focus();
  event.preventDefault();
}

interface TodoEntryProps {
  readonly todo: Todo;
  readonly editing: boolean;
  readonly onEditing: (editing: boolean) => void;
  readonly onChange: (change: Partial<Pick<Todo, "content" | "status" | "priority">>) => void;
  readonly onRemove: () => void;
}

function TodoEntry({ todo, editing, onEditing, onChange, onRemove }: TodoEntryProps) {
  const { content, status, priority } = todo;
  return (
    <li class={`todo todo-${status}`}>
      <button
        type="button"
        class={`todo-status todo-status-${status}`}
        data-control="status"
        aria-label={`${content}: ${statusWords[status]}. Make it ${statusWords[nextStatus[status]]}.`}
        title={`${statusWords[status]}, press for ${statusWords[nextStatus[status]]}`}
        onClick={() => onChange({ status: nextStatus[status] })}
      />
      {editing ? (
        <ContentField
          content={content}
          onDone={(changed) => {
            onEditing(false);
            if (changed !== undefined && changed !== content) onChange({ content: changed });
          }}
        />
      ) : (
        <VisibleText in="span" class="todo-content" text={content} />
      )}
      <select
        class={`g-field todo-priority todo-priority-${priority}`}
        aria-label={`Priority of ${content}`}
        value={priority}
        onChange={(event) => {
          const chosen = priorities.find((each) => each === event.currentTarget.value);
          if (chosen !== undefined) onChange({ priority: chosen });
        }}
      >
        {priorities.map((each) => (
          <option key={each} value={each}>
            {each}
          </option>
        ))}
      </select>
      <button
        type="button"
        class="button button-quiet"
        data-control="edit"
        aria-label={`Edit ${content}`}
        onClick={() => onEditing(true)}
      >
        Edit
      </button>
      <button
        type="button"
        class="button button-quiet"
        data-control="remove"
        aria-label={`Remove ${content}`}
        onClick={onRemove}
      >
        Remove
      </button>
    </li>
  );
}

function ContentField({
  content,
  onDone,
}: {
  readonly content: string;
  readonly onDone: (content: string | undefined) => void;
}) {
  const field = useRef<HTMLInputElement>(null);
  const over = useRef(false);
  useEffect(() => field.current?.select(), []);
  const done = (keep: boolean) => {
    if (over.current) return;
    over.current = true;
    const text = field.current?.value.trim() ?? "";
    onDone(keep && text !== "" ? text : undefined);
  };
  return (
    <input
      ref={field}
      class="g-field todo-content"
      aria-label="Text of the todo"
      defaultValue={content}
      onBlur={() => done(true)}
      onKeyDown={(event) => {
        if (event.key === "Enter") done(true);
        else if (event.key === "Escape") done(false);
      }}
    />
  );
}
