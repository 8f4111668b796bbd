import { resultForPeople } from "@gennai/client/session/text/result-for-people";
import { callArguments, callSubject } from "@gennai/client/view/call-subject";
import type { ToolCallItem } from "@gennai/client/view/items/view-item";
import { usersCallPrefix } from "@gennai/protocol/built-in-tools";
import { diffLines } from "@gennai/protocol/diff/line-diff";
import { countLines } from "@gennai/protocol/diff/line-edit";
import { parsedJson } from "@gennai/protocol/json-value";
import { plural } from "@gennai/protocol/plural";
import { colouredLine, type Paint } from "../../../terminal/colours.ts";
import { terminalSafe } from "../../../terminal/terminal-safe.ts";
import { durationWords } from "./words.ts";

/** Lines of a failed call's output that are shown at once. */
const failureLines = 3;
/** The same, of what a command of the person's own printed. */
const ownLines = 40;
/** Milliseconds from which on it is said how long a call took. */
const toldDuration = 2000;

/** A call that has ended, folded: what it did, in a line; the end of its output where it failed. */
export function endedCallLines(call: ToolCallItem, parentCallId: string, paint: Paint): readonly string[] {
  const indent = parentCallId === "" ? "" : "  ";
  const line = `${indent}${markOf(call, paint)} ${callTitle(call, paint)}${paint("dim", factsOf(call))}`;
  const told = reasonLines(call, paint).map((text) => `${indent}  ${text}`);
  return [line, ...told];
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
  const subject = terminalSafe(callSubject(argumentsJson));
  return `${paint("bold", terminalSafe(name))}${subject === "" ? "" : ` ${subject}`}`;
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
    result?.exitCode === undefined || result.exitCode === 0 ? "" : `exit code ${result.exitCode}`,
    result?.verification === "failed" ? "verification failed" : "",
    took < toldDuration ? "" : durationWords(took),
  ].filter((fact) => fact !== "");
  return facts.length === 0 ? "" : `   ${facts.join(" · ")}`;
}

/** e.g. `+3 -1`, of an edit of one place, or a new file; else empty. */
function changedLines({ argumentsJson, changes }: ToolCallItem): string {
  const { old_string: before, new_string: after, replace_all: everywhere, content } = callArguments(argumentsJson);
  if (typeof before === "string" && typeof after === "string" && everywhere !== true) {
    const { edits } = diffLines(before, after, { timeoutMs: 20 });
    const sum = (side: "newCount" | "oldCount"): number => edits.reduce((lines, edit) => lines + edit[side], 0);
    return `+${sum("newCount")} -${sum("oldCount")}`;
  }
  return typeof content === "string" && changes[0]?.operation === "create" ? `+${countLines(content)}` : "";
}

/** Why a call was refused, or the end of what a failed one printed, or one of the person's own. */
function reasonLines(call: ToolCallItem, paint: Paint): readonly string[] {
  const { status, result, decision, liveOutput } = call;
  const isOwn = call.callId.startsWith(usersCallPrefix);
  if (status !== "failed" && status !== "refused" && !isOwn) return [];
  const { error = "", output = "" } = result === undefined ? {} : resultForPeople(result);
  const message = messageIn(error);
  const reason = message !== "" || status === "done" ? message : (decision?.reason ?? "");
  const told = reason === "" ? [] : [paint(status === "failed" ? "red" : "yellow", oneLine(reason))];
  if (status === "refused") return told;
  // In brackets are words for the model.
  const printed = (liveOutput === "" ? output : liveOutput)
    .split("\n")
    .filter((line) => line.trim() !== "" && !/^\[.*\]$/.test(line));
  const most = isOwn ? ownLines : failureLines;
  const left = printed.length - most;
  const shown = printed.slice(-most).map((line) => paint("dim", terminalSafe(line)));
  return [...told, ...(left > 0 ? [paint("dim", `… ${plural(left, "line")} before (Ctrl-O)`)] : []), ...shown];
}

/** The message of an error in JSON, or the text itself. */
function messageIn(text: string): string {
  const value = parsedJson(text);
  const error: unknown = typeof value === "object" && value !== null ? Reflect.get(value, "error") : undefined;
  const message: unknown = typeof error === "object" && error !== null ? Reflect.get(error, "message") : undefined;
  return typeof message === "string" ? message : text;
}

function oneLine(text: string): string {
  return terminalSafe(text).replace(/\s+/g, " ").trim();
}
