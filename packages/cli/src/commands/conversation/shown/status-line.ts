import { visibleWidth } from "@earendil-works/pi-tui";
import type { ConnectionChange } from "@gennai/client/session/subscription";
import type { SessionFacts } from "@gennai/client/view/session-facts";
import { turnWords } from "@gennai/client/view/turn-words";
import { durationWords } from "../../../client/duration-words.ts";
import type { Paint } from "../../../terminal/colours.ts";
import { terminalSafe } from "../../../terminal/terminal-safe.ts";

/** What the line below the prompt tells. */
export interface Status {
  readonly facts: SessionFacts;
  /** A branch and how many files are not committed; undefined: not known. */
  readonly workspace: { readonly branch: string | undefined; readonly changedFiles: number } | undefined;
  readonly mode: string;
  readonly model: string;
  /** `sandboxed` or another word of the server; empty: not known. */
  readonly isolation: string;
  /** Policies that nobody here can lift, by name; empty: none. */
  readonly managedBy: string;
  /** What stands in the way, e.g. that the server is gone; empty: nothing. */
  readonly trouble: string;
  readonly isStopping: boolean;
  readonly isAsked: boolean;
}

/** One line; what has no room is left out, from its end. */
export function statusLine(status: Status, width: number, paint: Paint): string {
  const { facts, workspace, mode, model, isolation, managedBy, trouble } = status;
  const branch = workspace?.branch === undefined ? "" : terminalSafe(workspace.branch);
  const changed = workspace === undefined || workspace.changedFiles === 0 ? "" : ` *${workspace.changedFiles}`;
  const { contextTokens, maxContextTokens, cost, currency } = facts.usage;
  const parts = [
    { text: trouble, style: "yellow" as const },
    { text: activity(status), style: "cyan" as const },
    { text: `${branch}${changed}`, style: "dim" as const },
    { text: mode === "branch" ? "" : mode, style: "magenta" as const },
    { text: terminalSafe(model.split("/").at(-1) ?? ""), style: "dim" as const },
    {
      text: maxContextTokens === 0 ? "" : `${Math.round((100 * contextTokens) / maxContextTokens)} %`,
      style: "dim" as const,
    },
    { text: cost === undefined ? "" : `${cost.toFixed(2)} ${currency}`.trim(), style: "dim" as const },
    {
      text: isolation === "sandboxed" ? "sandbox" : isolation === "" ? "" : "no sandbox",
      style: isolation === "sandboxed" ? ("dim" as const) : ("yellow" as const),
    },
    { text: managedBy === "" ? "" : `managed by ${terminalSafe(managedBy)}`, style: "dim" as const },
    { text: facts.rules === undefined ? "" : `${facts.rules.count} rules`, style: "dim" as const },
  ].filter(({ text }) => text !== "");
  let line = "";
  let used = 0;
  for (const { text, style } of parts) {
    const gap = used === 0 ? "" : " · ";
    const needed = visibleWidth(gap + text);
    if (used + needed > width && used > 0) break;
    line += `${paint("dim", gap)}${paint(style, text)}`;
    used += needed;
  }
  return line;
}

/** What stands in the way of the server; empty: nothing. */
export function troubleWords(change: ConnectionChange | { readonly state: "gone" }): string {
  switch (change.state) {
    case "connected":
      return "";
    case "reconnecting":
      return `reconnecting, try ${change.attempt}`;
    case "gone":
      return "the server is gone: Enter tries again";
  }
}

function activity({ facts: { turn }, isStopping, isAsked }: Status): string {
  if (isStopping) return "stopping …";
  if (turn === undefined) return "";
  if (isAsked) return "waits for your answer";
  const since = turn.since === undefined ? "" : ` ${durationWords(Math.max(0, Date.now() - turn.since.getTime()))}`;
  return `${turnWords(turn)}${since} · Esc stops`;
}
