import { costWords } from "@gennai/client/session/usage-meter";
import { answerWords } from "@gennai/client/view/answer-words";
import type { ConfirmationItem, ItemCell, NoticeItem, TurnEndItem } from "@gennai/client/view/items/view-item";
import { isNews } from "@gennai/client/view/notice";
import { plural } from "@gennai/protocol/plural";
import type { Paint } from "../terminal/colours.ts";
import { terminalSafe } from "../terminal/terminal-safe.ts";
import { endedCallLines } from "./call-lines.ts";
import { durationWords } from "./duration-words.ts";

/** What lines of items need besides the item. */
export interface LineContext {
  readonly paint: Paint;
  /** Of this client: what was answered by it was answered here. */
  readonly clientId: string;
  /** Replaces commands in the server's own words by what the user would type. */
  readonly asTyped: (text: string) => string;
  /** A key shows what is left out of a call. */
  readonly foldsOutput: boolean;
}

/** Lines of a prompt that are shown again. */
const promptLines = 12;

/** An item that can change no more, as lines of any width. What the model says is not among them: it is shown while it comes. */
export function itemLines({ item: { value: item }, parentCallId }: ItemCell, context: LineContext): readonly string[] {
  const { paint, clientId } = context;
  switch (item.kind) {
    case "user-message":
      return ["", ...promptAsShown(item.text, paint)];
    case "tool-call":
      return endedCallLines(item, parentCallId, context);
    case "confirmation":
      return [paint("dim", `  ${answeredWords(item, clientId)}`)];
    case "client-request":
      return item.answeredBy === clientId ? [] : [paint("dim", `  ${terminalSafe(item.text)}: ${item.state}`)];
    case "proposal": {
      const { changes, warnings } = item.proposal;
      const hunks = changes.reduce((sum, change) => sum + Math.max(1, change.hunks.length), 0);
      return [
        `${paint("magenta", "◆")} ${paint("bold", "Proposed")} ${plural(changes.length, "file")}, ${plural(hunks, "hunk")}: ${namedPaths(changes.map(({ path }) => path))}. Nothing is written yet: ${paint("cyan", "/review")}`,
        ...warnings.map((warning) => paint("yellow", `  ${terminalSafe(warning)}`)),
      ];
    }
    case "change-set":
      return item.proposalId === undefined
        ? []
        : [`${paint("green", "✓")} Applied to ${namedPaths(item.files.map(({ path }) => path))}`];
    case "notice":
      return noticeLines(item, context);
    case "turn-end":
      return endLines(item, paint);
    // Plans are told event by event, thoughts and answers while they come.
    case "plan":
    case "thinking":
    case "assistant":
      return [];
  }
}

/** A prompt as it stands in the conversation; a long one is shortened. */
export function promptAsShown(text: string, paint: Paint): readonly string[] {
  const lines = terminalSafe(text).split("\n");
  const left = lines.length - promptLines;
  const shown = lines.slice(0, left > 1 ? promptLines : lines.length);
  return [
    ...shown.map((line, index) =>
      index === 0 ? `${paint("cyan", "›")} ${paint("bold", line)}` : `  ${paint("bold", line)}`,
    ),
    ...(left > 1 ? [paint("dim", `  … ${left} more lines`)] : []),
  ];
}

function answeredWords(item: ConfirmationItem, clientId: string): string {
  return `${terminalSafe(item.question.title).replace(/\s+/g, " ")} · ${answerWords(item, clientId)}`;
}

function noticeLines(notice: NoticeItem, { paint, asTyped }: LineContext): readonly string[] {
  const { level, text, hint, topic, code } = notice;
  if (!isNews(notice) && topic !== "context") return [];
  const style = ({ info: "dim", warning: "yellow", error: "red" } as const)[level];
  const mark = level === "error" ? "✗ " : level === "warning" ? "! " : "";
  const more = level !== "info" && topic !== "context" && hint !== "" ? asTyped(terminalSafe(hint)).split("\n") : [];
  const again = code.startsWith("interrupted") ? ["/again goes on with it; anything else begins a new turn."] : [];
  return [paint(style, `${mark}${asTyped(terminalSafe(text))}`), ...[...more, ...again].map((line) => `  ${line}`)];
}

function endLines({ outcome, duration, usage, changedFiles }: TurnEndItem, paint: Paint): readonly string[] {
  const how = ({ completed: "", error: "failed", cancelled: "stopped", interrupted: "interrupted" } as const)[outcome];
  const facts = [
    how,
    changedFiles.length === 0 ? "" : `changed ${namedPaths(changedFiles)} (/undo)`,
    duration === undefined || duration < 5000 ? "" : durationWords(duration),
    costWords(usage),
  ].filter((fact) => fact !== "");
  return facts.length === 0 ? [] : [paint(outcome === "completed" ? "dim" : "yellow", `■ ${facts.join(" · ")}`)];
}

/** The first paths, and how many more there are. */
export function namedPaths(paths: readonly string[]): string {
  const shown = paths.slice(0, 4).map(terminalSafe).join(", ");
  return paths.length > 4 ? `${shown} and ${paths.length - 4} more` : shown;
}

/** What an undo of somebody brought back; empty if that was no file. */
export function undoneLine(files: readonly { readonly path: string }[]): string {
  return files.length === 0 ? "" : `↶ undone: ${files.map(({ path }) => terminalSafe(path)).join(", ")}`;
}
