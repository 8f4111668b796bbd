import { resultForPeople } from "@gennai/client/session/text/result-for-people";
import { callArguments, callSubject } from "@gennai/client/view/call-subject";
import type { ToolCallItem } from "@gennai/client/view/items/view-item";
import { usersCallPrefix } from "@gennai/protocol/built-in-tools";
import { diffLines } from "@gennai/protocol/diff/line-diff";
import { countLines } from "@gennai/protocol/diff/line-edit";
import { parsedJson } from "@gennai/protocol/json-value";
import { plural } from "@gennai/protocol/plural";
import { colouredLine, type Paint } from "../terminal/colours.ts";
import { terminalSafe } from "../terminal/terminal-safe.ts";
import { durationWords } from "./duration-words.ts";

/** Characters of what a call is about. */
const longestSubject = 200;
/** Lines of a failed call's output that are shown at once. */
const failureLines = 3;
/** The same, of what a command of the person's own printed. */
const ownLines = 40;
/** Lines of a result that are shown where nothing is folded; the session has all lines. */
const shownLines = 6;
/** The same for a diff, of which readers want to see more. */
const shownDiffLines = 60;
/** Milliseconds from which on it is said how long a call took. */
const toldDuration = 2000;

/** A call that has ended, folded: what it did, in a line; the end of its output where it failed. */
export function endedCallLines(
  call: ToolCallItem,
  parentCallId: string,
  { paint, foldsOutput }: { readonly paint: Paint; readonly foldsOutput: boolean },
): readonly string[] {
  const indent = parentCallId === "" ? "" : "  ";
  const line = `${indent}${markOf(call, paint)} ${callTitle(call, paint)}${paint("dim", factsOf(call))}`;
  const told = [...reasonLines(call, paint), ...(foldsOutput ? lastOutputLines : outputLines)(call, paint)];
  return [line, ...told.map((text) => `${indent}  ${text}`)];
}

/** A call that has not ended, with how long it runs. */
export function runningCallLine(call: ToolCallItem, parentCallId: string, paint: Paint): string {
  const { startedAt, status } = call;
  const since = startedAt === undefined ? 0 : Date.now() - startedAt.getTime();
  const state =
    status === "running" ? (since < 1000 ? "" : durationWords(since)) : status === "writing" ? "…" : "waits";
  const mark = paint(status === "running" ? "cyan" : "dim", "●");
  return `${parentCallId === "" ? "" : "  "}${mark} ${callTitle(call, paint)}   ${paint("dim", state)}`;
}

/** All of a call: its arguments, and its output as far as the session has it at hand. */
export function wholeCallLines(
  { name, argumentsJson, liveOutput, result }: ToolCallItem,
  paint: Paint,
): readonly string[] {
  const { error = "", output = "" } = result === undefined ? {} : resultForPeople(result);
  const given = Object.entries(callArguments(argumentsJson)).flatMap(([key, value]) => {
    const text = typeof value === "string" ? value : JSON.stringify(value, undefined, 1);
    const [first = "", ...rest] = terminalSafe(text).split("\n");
    return [`${paint("dim", `  ${terminalSafe(key)}`)} ${first}`, ...rest.map((line) => `    ${line}`)];
  });
  const printed = liveOutput === "" ? output : liveOutput;
  const isDiff = /^@@ /m.test(printed);
  const lines = printed.replace(/\n$/, "").split("\n");
  return [
    paint("bold", terminalSafe(name)),
    ...given,
    ...(error === "" ? [] : [paint("red", terminalSafe(error))]),
    ...(printed === "" ? [] : lines.map((line) => (isDiff ? colouredLine(line, paint) : terminalSafe(line)))),
  ];
}

function callTitle({ name, argumentsJson }: ToolCallItem, paint: Paint): string {
  const subject = oneLine(callSubject(argumentsJson) || (argumentsJson === "{}" ? "" : argumentsJson));
  const shown = subject.length > longestSubject ? `${subject.slice(0, longestSubject)}…` : subject;
  return `${paint("bold", terminalSafe(name))}${shown === "" ? "" : ` ${shown}`}`;
}

/** Green only for what is known to have worked: a command whose end is unknown is not. */
function markOf({ status, argumentsJson, result }: ToolCallItem, paint: Paint): string {
  if (status === "failed") return paint("red", "✗");
  if (status === "refused") return paint("yellow", "⊘");
  const ranCommand = typeof callArguments(argumentsJson)["command"] === "string";
  const isKnown = status === "done" && (!ranCommand || result?.exitCode === 0);
  return isKnown ? paint("green", "✓") : paint("dim", "•");
}

function factsOf(call: ToolCallItem): string {
  const { status, result, startedAt, endedAt } = call;
  const took = startedAt === undefined || endedAt === undefined ? 0 : endedAt.getTime() - startedAt.getTime();
  const facts = [
    status === "done" ? changedLines(call) : "",
    status === "refused" ? "refused" : status === "ended" ? "did not end" : "",
    failedWith(result?.exitCode),
    // The reason stands below, where there is one.
    result?.verification === "failed" && result.error === "" ? "verification failed" : "",
    took < toldDuration ? "" : durationWords(took),
  ].filter((fact) => fact !== "");
  return facts.length === 0 ? "" : `   ${facts.join(" · ")}`;
}

function failedWith(exitCode: number | undefined): string {
  return exitCode === undefined || exitCode === 0 ? "" : `exit code ${exitCode}`;
}

/** e.g. `+3 -1`, of an edit of one place, or a new file; else empty. */
function changedLines({ argumentsJson, changes }: ToolCallItem): string {
  const { old_string: before, new_string: after, replace_all: everywhere, content } = callArguments(argumentsJson);
  if (typeof before === "string" && typeof after === "string" && everywhere !== true) {
    const { edits } = diffLines(`${before}\n`, `${after}\n`, { timeoutMs: 20 });
    const sum = (side: "newCount" | "oldCount"): number => edits.reduce((lines, edit) => lines + edit[side], 0);
    return `+${sum("newCount")} -${sum("oldCount")}`;
  }
  return typeof content === "string" && changes[0]?.operation === "create" ? `+${countLines(content)}` : "";
}

/** Why a call was refused, or failed. */
function reasonLines({ callId, status, result, decision }: ToolCallItem, paint: Paint): readonly string[] {
  if (status !== "failed" && status !== "refused" && !callId.startsWith(usersCallPrefix)) return [];
  const { error = "" } = result === undefined ? {} : resultForPeople(result);
  const { message } = errorIn(error);
  const asked = decision?.reason ?? "";
  // The line above says how a command ended.
  const ended = failedWith(result?.exitCode);
  const told = ended !== "" && message.endsWith(` ${ended}.`) ? "" : message;
  const reason = message !== "" || status === "done" ? told : asked;
  // Nobody saw the question, which says why it was asked.
  const reasons = errorIn(result?.output ?? "").code === "nobody_to_ask" ? [asked, reason] : [reason];
  return reasons.flatMap((text) => (text === "" ? [] : [paint(status === "failed" ? "red" : "yellow", oneLine(text))]));
}

/** The end of what a failed call printed, or one of the person's own. */
function lastOutputLines({ callId, status, result, liveOutput }: ToolCallItem, paint: Paint): readonly string[] {
  const isOwn = callId.startsWith(usersCallPrefix);
  if (status === "refused" || (status !== "failed" && !isOwn)) return [];
  const { output = "" } = result === undefined ? {} : resultForPeople(result);
  const printed = (liveOutput === "" ? output : liveOutput)
    .split("\n")
    .filter((line) => line.trim() !== "" && isForPeople(line));
  const most = isOwn ? ownLines : failureLines;
  const left = printed.length - most;
  const shown = printed.slice(-most).map((line) => paint("dim", terminalSafe(line)));
  return [...(left > 0 ? [paint("dim", `… ${plural(left, "line")} before (Ctrl-O)`)] : []), ...shown];
}

/** Words in brackets are for the model; a list in JSON is none. */
function isForPeople(line: string): boolean {
  return !/^\[(?=.*\p{L})[^"{[\]].*\]$/u.test(line);
}

/** The beginning of a result that was not printed as it came; all of a diff that is not long. */
function outputLines({ name, status, result, liveOutput }: ToolCallItem, paint: Paint): readonly string[] {
  // A proposal is shown as diffs after the turn.
  if (status === "refused" || liveOutput !== "" || name === "ProposeChanges" || result === undefined) return [];
  const { output } = resultForPeople(result);
  const lines = output.replace(/\n$/, "").split("\n").filter(isForPeople);
  if (lines.join("").trim() === "") return [];
  const isDiff = lines.some((line) => line.startsWith("@@ "));
  const shown = lines.slice(0, isDiff ? shownDiffLines : shownLines);
  const more = lines.length - shown.length;
  return [
    ...shown.map((line) => (isDiff ? colouredLine(line, paint) : paint("dim", terminalSafe(line)))),
    ...(more > 0 ? [paint("dim", `… ${more} more ${more === 1 ? "line" : "lines"}`)] : []),
  ];
}

/** Code and message of an error in JSON, or the text itself as message. */
function errorIn(text: string): { readonly code: unknown; readonly message: string } {
  const value = parsedJson(text);
  const error: unknown = typeof value === "object" && value !== null ? Reflect.get(value, "error") : undefined;
  if (typeof error !== "object" || error === null) return { code: undefined, message: text };
  const message: unknown = Reflect.get(error, "message");
  return { code: Reflect.get(error, "code"), message: typeof message === "string" ? message : text };
}

function oneLine(text: string): string {
  return terminalSafe(text).replace(/\s+/g, " ").trim();
}
