import type { InvokeEvent } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { EmergencyControl } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import type { NoticeItem } from "./items/view-item.ts";
import { rulesWords } from "./rules-words.ts";

/** The line that an event adds to the chat; undefined if it adds none. */
export function noticeOf(event: InvokeEvent): NoticeItem | undefined {
  const body = event.event;
  switch (body.case) {
    case "warning":
    case "error": {
      const { code = "", hint = "", retryable = false } = event.errorInfo ?? {};
      return { ...notice(body.case, "turn", body.value), code, hint, retryable };
    }
    case "truncated":
      return notice("warning", "session", `Events up to ${body.value.throughSeq} are not shown. ${body.value.reason}`);
    case "sessionStarted":
      return body.value.forkedFrom === ""
        ? undefined
        : notice("info", "session", "This session goes on from a copy of another one.");
    case "sessionCleared":
      return notice("info", "session", "The conversation was cleared: the model has forgotten what is above.");
    case "settingsChanged":
      return notice("info", "settings", `From here on: ${body.value.summary}`);
    case "contextAdded": {
      const { items } = body.value;
      const left = items.filter(({ reason }) => reason !== "");
      const text = `With the prompt: ${items.map(({ name }) => name).join(", ")}`;
      const hint = left.map(({ name, reason }) => `${name}: ${reason}`).join("\n");
      return { ...notice(left.length === 0 ? "info" : "warning", "context", text), hint };
    }
    case "conversationCompacted": {
      const { droppedMessages, tokensBefore, tokensAfter } = body.value;
      const text = `The conversation was shortened for the model: ${droppedMessages} messages, ${tokensBefore} to ${tokensAfter} tokens.`;
      return { ...notice("info", "context", text), hint: body.value.summary };
    }
    case "checkpointRestored": {
      const { files, skipped, interrupted } = body.value;
      const what = interrupted ? "Restoring was interrupted; until then" : "Restored from a checkpoint";
      const text = `${what}: ${files.map(({ path }) => path).join(", ") || "no file"}`;
      const hint = skipped.length === 0 ? "" : `Left as they are: ${skipped.map(({ path }) => path).join(", ")}`;
      const level = skipped.length === 0 && !interrupted ? "info" : "warning";
      return { ...notice(level, "checkpoint", text), hint };
    }
    case "branchChanged": {
      const { branch: name, created, before, beforeCommit } = body.value;
      const how = created ? "created" : "switched";
      const isUnborn = before !== "" && beforeCommit === "";
      const hint = before === "" || isUnborn ? "" : `${before} stays as it is.`;
      return { ...notice("info", "branch", branchWords({ name, how, unborn: isUnborn ? before : "" })), hint };
    }
    case "intentSelected":
      return notice("info", "intent", `Works under intent ${body.value.intent?.id}: ${body.value.intent?.name}`);
    case "rulesChanged": {
      const { text = "", problems = [] } = body.value.status ?? {};
      return problems.length === 0
        ? notice("info", "rules", `Rules: ${rulesWords(text)}`)
        : { ...notice("warning", "rules", `Rules: ${rulesWords(text)}`), hint: problems.join("\n") };
    }
    case "emergencyChanged": {
      const { control, enabled, tool, by, reason } = body.value;
      const what = `${controlWords[control] ?? "An emergency control"}${tool === "" ? "" : ` (${tool})`}`;
      const why = `${by === "" ? "" : ` by ${by}`}${reason === "" ? "" : `: ${reason}`}`;
      return notice(enabled ? "warning" : "info", "emergency", `${what} was switched ${enabled ? "on" : "off"}${why}`);
    }
    case "ruleViolation":
      return notice("warning", "violation", `${body.value.tool} was ${body.value.action} by rule ${body.value.rule}.`);
    default:
      return undefined;
  }
}

/** False for what the one who drives a session has just set or sent, and for what is seen elsewhere. */
export function isNews({ level, topic }: NoticeItem): boolean {
  return level !== "info" || !["session", "settings", "intent", "rules", "context"].includes(topic);
}

/** @param unborn the branch before, if it had no commit; else empty */
export function branchWords({
  name,
  how,
  unborn,
}: {
  readonly name: string;
  readonly how: "kept" | "switched" | "created";
  readonly unborn: string;
}): string {
  const title = `Branch ${name}${how === "kept" ? "" : ` (${how})`}`;
  if (unborn === "") return title;
  return `${title} · ${unborn} has no commit, so git has no branch ${unborn} now; make it with: git switch --create ${unborn}`;
}

function notice(level: NoticeItem["level"], topic: NoticeItem["topic"], text: string): NoticeItem {
  return { kind: "notice", level, topic, text, code: "", hint: "", retryable: false };
}

const controlWords: Partial<Record<EmergencyControl, string>> = {
  [EmergencyControl.READ_ONLY]: "Read-only",
  [EmergencyControl.DISABLE_HIGH_IMPACT]: "Refusing high risk",
  [EmergencyControl.BLOCK_TOOL]: "Blocking a tool",
  [EmergencyControl.STOP_ALL]: "Stop all",
};
