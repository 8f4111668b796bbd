import { resolve } from "node:path";
import type { PlanEntry, SessionUpdate, ToolCallContent, ToolCallLocation, ToolKind } from "@agentclientprotocol/sdk";
import { fencedText } from "@gennai/client/session/text/fenced-text";
import { resultForPeople } from "@gennai/client/session/text/result-for-people";
import { callSubject } from "@gennai/client/view/call-subject";
import { isNews } from "@gennai/client/view/notice";
import { SessionView } from "@gennai/client/view/session-view";
import { builtInTools } from "@gennai/protocol/built-in-tools";
import {
  type AppliedFile,
  type InvokeEvent,
  type ProposedChange,
  type TodoItem,
} from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { spelledOut } from "@gennai/protocol/hidden-characters";
import { parsedJson, recordOf } from "@gennai/protocol/json-value";
import { todoFromMessage } from "@gennai/protocol/model/session/todo";

export interface TurnUpdatesOptions {
  readonly workingDir: string;
  /** Text behind a digest; undefined when it is not kept, too large, or no text. */
  readonly textOf: (sha256: string) => Promise<string | undefined>;
  /** What the person typed comes back too: for a session that is loaded. */
  readonly withPrompts: boolean;
}

type ContentUpdate = Extract<SessionUpdate, { sessionUpdate: "tool_call_update" }> & {
  readonly content: ToolCallContent[];
  readonly locations: ToolCallLocation[];
};

/** Characters of a running command's output that are shown, from its end. */
const maxLiveOutput = 8_000;

/** What an editor is told about the events of a session, in their order. */
export class TurnUpdates {
  readonly #options: TurnUpdatesOptions;
  /** What each call shows so far. */
  readonly #shown = new Map<string, readonly ToolCallContent[]>();
  readonly #called = new Set<string>();
  /** What was told so far came to. */
  readonly session = new SessionView();

  constructor(options: TurnUpdatesOptions) {
    this.#options = options;
  }

  async of(told: InvokeEvent): Promise<readonly SessionUpdate[]> {
    const { event, parentToolCallId, itemId } = told;
    const added = this.session.apply(told);
    // A sub-agent's own steps stay behind its call.
    if (parentToolCallId !== "") return [];
    switch (event.case) {
      case "userMessage":
        return this.#options.withPrompts ? [chunk("user_message_chunk", event.value.text)] : [];
      case "thinkingDelta":
        return added === "" ? [] : [chunk("agent_thought_chunk", added, itemId)];
      case "assistantDelta":
        return added === "" ? [] : [chunk("agent_message_chunk", added, itemId)];
      case "toolCallStart": {
        const { id, name } = event.value;
        this.#called.add(id);
        return [
          { sessionUpdate: "tool_call", toolCallId: id, title: name, name, kind: toolKind(name), status: "pending" },
        ];
      }
      case "toolCall": {
        const { id, name, argumentsJson } = event.value;
        const call = { ...shownCall(name, argumentsJson, this.#options.workingDir), name, kind: toolKind(name) };
        const isNew = !this.#called.has(id);
        this.#called.add(id);
        return [
          isNew
            ? { sessionUpdate: "tool_call", toolCallId: id, status: "pending", ...call }
            : { sessionUpdate: "tool_call_update", toolCallId: id, ...call },
        ];
      }
      case "toolOutputDelta":
        return [this.#outputUpdate(event.value.id)];
      case "toolResult":
        return [this.#resultUpdate(event.value)];
      case "changeSetApplied":
        return this.#changeUpdate(event.value.toolCallId, event.value.files);
      case "proposedChanges":
        return this.#proposalUpdate(event.value.toolCallId, event.value.changes);
      case "todosChanged":
        return [{ sessionUpdate: "plan", entries: event.value.items.map(planEntry) }];
      case "usage":
        return this.#usageUpdate();
      case "sessionRenamed":
        return [{ sessionUpdate: "session_info_update", title: event.value.title }];
      case "error":
        return [chunk("agent_message_chunk", `\n\n${spelledOut(event.value)}\n`)];
      case "warning":
        return [];
      default: {
        const notice = this.session.noticeOf(told);
        return notice !== undefined && isNews(notice)
          ? [chunk("agent_message_chunk", `${spelledOut(notice.text).replace(/\.$/, "")}.\n\n`)]
          : [];
      }
    }
  }

  #outputUpdate(toolCallId: string): SessionUpdate {
    const output = this.session.call(toolCallId)?.item.peek().liveOutput.slice(-maxLiveOutput) ?? "";
    return {
      sessionUpdate: "tool_call_update",
      toolCallId,
      status: "in_progress",
      content: [content(fencedText(spelledOut(output)))],
    };
  }

  #resultUpdate(result: { readonly id: string; readonly output: string; readonly error: string }): SessionUpdate {
    const { id: toolCallId, output, error } = result;
    const told = resultForPeople({ error, output });
    const texts = [[told.error, told.advice].filter((text) => text !== "").join("\n"), told.output].filter(
      (text) => text !== "",
    );
    const shown = texts.map((text) => content(fencedText(spelledOut(text))));
    this.#shown.set(toolCallId, shown);
    return {
      sessionUpdate: "tool_call_update",
      toolCallId,
      status: error === "" ? "completed" : "failed",
      content: [...shown],
    };
  }

  async #changeUpdate(toolCallId: string, files: readonly AppliedFile[]): Promise<readonly SessionUpdate[]> {
    // What a person did by themselves is no call's.
    if (toolCallId === "") return [];
    const diffs = await Promise.all(files.map((file) => this.#applied(file)));
    return [this.#addContent(toolCallId, diffs)];
  }

  async #proposalUpdate(toolCallId: string, changes: readonly ProposedChange[]): Promise<readonly SessionUpdate[]> {
    const diffs = await Promise.all(changes.map((change) => this.#proposed(change)));
    if (this.#called.has(toolCallId)) return [this.#addContent(toolCallId, diffs)];
    // All that a turn changed is proposed at its end, by no call of the model.
    this.#called.add(toolCallId);
    const { content: shown, locations } = this.#addContent(toolCallId, diffs);
    const title = `Proposed changes of ${changes.length} file${changes.length === 1 ? "" : "s"}`;
    return [
      { sessionUpdate: "tool_call", toolCallId, title, kind: "edit", status: "pending", content: shown, locations },
    ];
  }

  #addContent(toolCallId: string, added: readonly ToolCallContent[]): ContentUpdate {
    const shown = [...(this.#shown.get(toolCallId) ?? []), ...added];
    this.#shown.set(toolCallId, shown);
    const locations = added.flatMap((each) => (each.type === "diff" ? [{ path: each.path }] : []));
    return { sessionUpdate: "tool_call_update", toolCallId, content: shown, locations };
  }

  async #applied({ path, beforeSha256, afterSha256 }: AppliedFile): Promise<ToolCallContent> {
    const { textOf } = this.#options;
    const [oldText, newText] = await Promise.all([
      beforeSha256 === "" ? null : textOf(beforeSha256),
      afterSha256 === "" ? "" : textOf(afterSha256),
    ]);
    return this.#diff(path, oldText, newText);
  }

  async #proposed({
    path,
    baseBlob,
    newContent,
    newContentBlob,
    unifiedDiff,
  }: ProposedChange): Promise<ToolCallContent> {
    const { textOf } = this.#options;
    const [oldText, newText] = await Promise.all([
      baseBlob === undefined ? null : textOf(baseBlob.sha256),
      newContentBlob === undefined ? newContent : textOf(newContentBlob.sha256),
    ]);
    if (oldText === undefined || newText === undefined) return content(fencedText(spelledOut(unifiedDiff), "diff"));
    return this.#diff(path, oldText, newText);
  }

  /** @param oldText null: there was no file; undefined: its text is not known */
  #diff(path: string, oldText: string | null | undefined, newText: string | undefined): ToolCallContent {
    if (oldText === undefined || newText === undefined) return content(`Changed \`${spelledOut(path)}\`.`);
    return { type: "diff", path: resolve(this.#options.workingDir, path), oldText, newText };
  }

  #usageUpdate(): readonly SessionUpdate[] {
    const { contextTokens, maxContextTokens, cost, currency } = this.session.facts.peek().usage;
    if (maxContextTokens === 0) return [];
    return [
      {
        sessionUpdate: "usage_update",
        used: contextTokens,
        size: maxContextTokens,
        ...(cost === undefined || currency === "" ? {} : { cost: { amount: cost, currency } }),
      },
    ];
  }
}

function chunk(
  sessionUpdate: "user_message_chunk" | "agent_message_chunk" | "agent_thought_chunk",
  text: string,
  messageId = "",
): SessionUpdate {
  return {
    sessionUpdate,
    content: { type: "text", text },
    ...(messageId === "" ? {} : { messageId }),
  };
}

function content(text: string): ToolCallContent {
  return { type: "content", content: { type: "text", text } };
}

function planEntry(item: TodoItem): PlanEntry {
  const { content: text, priority, status } = todoFromMessage(item);
  return { content: text, priority, status };
}

/** How an editor draws a call; tools of MCP servers are `other`. */
export function toolKind(name: string): ToolKind {
  return builtInTools.get(name)?.kind ?? "other";
}

/** Characters of a title; the arguments themselves go along whole. */
const maxTitle = 200;

/** A line about a call, and the file that it is about. @param argumentsJson as the model gave them; may be broken */
export function shownCall(
  name: string,
  argumentsJson: string,
  workingDir: string,
): { readonly title: string; readonly locations: ToolCallLocation[]; readonly rawInput: unknown } {
  const { file_path, notebook_path, path, offset } = recordOf(parsedJson(argumentsJson));
  const files = [file_path, notebook_path, toolKind(name) === "read" ? path : undefined];
  const file = files.find((each) => typeof each === "string");
  const title = `${name} ${callSubject(argumentsJson)}`.trim();
  return {
    title: title.length > maxTitle ? `${title.slice(0, maxTitle - 1)}…` : title,
    locations:
      file === undefined ? [] : [{ path: resolve(workingDir, file), line: typeof offset === "number" ? offset : null }],
    rawInput: parsedJson(argumentsJson) ?? argumentsJson,
  };
}
