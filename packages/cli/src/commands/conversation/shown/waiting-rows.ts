import type { BackgroundRun } from "@gennai/client/background-runs";
import type { SessionFacts } from "@gennai/client/view/session-facts";
import { promptAsShown } from "../../../client/item-lines.ts";
import type { Paint } from "../../../terminal/colours.ts";
import { terminalSafe } from "../../../terminal/terminal-safe.ts";

/** What waits above the prompt. */
export interface Waiting {
  readonly facts: Pick<SessionFacts, "todos" | "queuedMessages">;
  /** Prompts that were sent and are not in the log yet. */
  readonly sending: readonly string[];
  /** Commands that run in the background. */
  readonly runs: readonly BackgroundRun[];
}

/** What is to be done, what was said meanwhile, what is being sent, and what runs in the background. */
export function waitingRows({ facts, sending, runs }: Waiting, paint: Paint): readonly string[] {
  const { todos, queuedMessages } = facts;
  const now = todos.findIndex(({ status }) => status === "in_progress");
  const todo = todos[now];
  return [
    ...(todo === undefined ? [] : [`${paint("cyan", "☐")} ${now + 1}/${todos.length} ${terminalSafe(todo.content)}`]),
    ...queuedMessages.map(
      ({ text }) =>
        `${paint("cyan", "⏎")} ${oneLine(text)}   ${paint("dim", "(waits for the next model call; Up withdraws it)")}`,
    ),
    ...sending.flatMap((prompt) => promptAsShown(prompt, (_style, text) => paint("dim", text))),
    ...inBackground(runs, paint),
  ];
}

function inBackground(runs: Waiting["runs"], paint: Paint): readonly string[] {
  if (runs.length === 0) return [];
  const names = runs.map(({ command, ports }) => [oneLine(command), ...ports.map(({ port }) => `:${port}`)].join(" "));
  return [
    `${paint("cyan", "▸")} ${runs.length} in the background: ${names.join(", ")}   ${paint("dim", "/background")}`,
  ];
}

/** A draft that a question hides. */
export function keptDraft(text: string, width: number, paint: Paint): string {
  const draft = oneLine(text);
  const room = Math.max(8, width - 28);
  return paint("dim", `  (your draft is kept: ${draft.length > room ? `${draft.slice(0, room)}…` : draft})`);
}

function oneLine(text: string): string {
  return terminalSafe(text).replace(/\s+/g, " ");
}
