import { create } from "@bufbuild/protobuf";
import { ChangeOperation, ErrorInfoSchema, InvokeState } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { FailureClass } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { describe, expect, it } from "vitest";
import { turnReport } from "#view/turn-report";
import { EventLog, fullTurn, itemsOf, ofKind, viewOf } from "./wire-events.ts";

describe("a turn that was cut off", () => {
  const cutOff = () => {
    const log = new EventLog().status("t", InvokeState.STARTED);
    log.add("t", { case: "toolCall", value: { id: "c", name: "Bash", argumentsJson: "{}" } }, "c");
    log.add("t", { case: "error", value: "The server went away while this waited for an answer: Run `ls`" });
    const event = log.events.at(-1);
    if (event === undefined) throw new Error("no event");
    const code = "interrupted_waiting";
    event.errorInfo = create(ErrorInfoSchema, { code, retryable: true, canContinue: true });
    return log.status("t", InvokeState.INTERRUPTED);
  };

  it("can be gone on with until another one begins", () => {
    expect(viewOf(cutOff().events).facts.value.cutOffTurn).toEqual({
      turnId: "t",
      waited: true,
      message: "The server went away while this waited for an answer: Run `ls`",
    });
    const later = cutOff().status("t2", InvokeState.STARTED);
    expect(viewOf(later.events).facts.value.cutOffTurn).toBeUndefined();
  });

  it("has its calls run by the one that goes on", () => {
    const log = cutOff().status("t2", InvokeState.STARTED);
    log.add("t2", { case: "turnContinued", value: { continuedTurnId: "t" } });
    log.status("t2", InvokeState.RUN_TOOL, { toolName: "Bash", toolCallId: "c" });
    const statusOf = (events: EventLog) => ofKind(itemsOf(events), "tool-call").map(({ status }) => status);
    expect(statusOf(log)).toEqual(["running"]);
    expect(statusOf(log.status("t2", InvokeState.INTERRUPTED))).toEqual(["ended"]);
  });
});

describe("what else a session tells", () => {
  it("adds up what was used; a sub-agent and a summary do not fill the conversation's context", () => {
    const log = new EventLog()
      .status("t", InvokeState.STARTED)
      .add("t", { case: "usage", value: { inputTokens: 100, outputTokens: 20, cost: 0.5, currency: "EUR" } })
      .add("t", { case: "usage", value: { inputTokens: 7, outputTokens: 3, forCompaction: true, estimated: true } });
    const nested = new EventLog().add("t", { case: "usage", value: { inputTokens: 10, outputTokens: 5, cost: 0.25 } });
    const events = [...log.events];
    for (const event of nested.events) events.push({ ...event, seq: 4n, firstSeq: 4n, parentToolCallId: "task" });
    expect(viewOf(events).facts.value.usage).toMatchObject({
      inputTokens: 117,
      outputTokens: 28,
      contextTokens: 120,
      cost: 0.75,
      estimated: true,
    });
  });

  it("keeps whose sub-agent a call is of, and the title that was given", () => {
    const log = new EventLog()
      .add("t", { case: "toolCall", value: { id: "c", name: "Read", argumentsJson: "{}" } })
      .add("", { case: "sessionRenamed", value: { title: "Colours" } });
    const events = log.events.map((event) => ({ ...event, parentToolCallId: event.turnId === "t" ? "task" : "" }));
    const view = viewOf(events);
    expect(view.cells.map(({ parentCallId }) => parentCallId)).toEqual(["task"]);
    expect(view.facts.value.title).toBe("Colours");
  });

  it("marks a turn that changed files by a command", () => {
    const log = new EventLog()
      .status("t", InvokeState.STARTED)
      .add("t", { case: "checkpointClosed", value: { checkpointId: "c", files: [{ path: "a" }] } })
      .status("t", InvokeState.COMPLETED);
    expect(ofKind(itemsOf(log), "turn-end")[0]).toMatchObject({ changedFiles: ["a"] });
  });

  it("shows the words about rules without their picture", () => {
    const status = { count: 2, text: "🛡️ Damage-Control Active: 2 Rules", problems: [] };
    const log = new EventLog().add("", { case: "rulesChanged", value: { status } });
    expect(ofKind(itemsOf(log), "notice")[0]?.text).toBe("Rules: Damage-Control Active: 2 Rules");
  });

  it("reports rules when they change, and not of each violation", () => {
    const active = (count: number, problems: string[] = []) => ({
      count,
      text: `🛡️ Damage-Control Active: ${count} Rules`,
      problems,
    });
    const violated = { count: 2, text: "⚠️ Last Violation: rm", lastViolation: "rm", problems: [] };
    const log = new EventLog();
    for (const status of [violated, active(2), violated, active(3), active(3, ["broken"]), active(3)]) {
      log.add("", { case: "rulesChanged", value: { status } });
    }
    expect(ofKind(itemsOf(log), "notice").map(({ text, hint }) => `${text} ${hint}`.trim())).toEqual([
      "Rules: Damage-Control Active: 3 Rules",
      "Rules: Damage-Control Active: 3 Rules broken",
      "Rules: Damage-Control Active: 3 Rules",
    ]);
  });
});

describe("what a turn came to", () => {
  const refused = (id: string, name: string, failureClass: FailureClass, error: string) => (log: EventLog) =>
    log
      .add("t", { case: "toolCall", value: { id, name, argumentsJson: "{}" } }, id)
      .add("t", { case: "toolResult", value: { id, error, failureClass } });

  it("is its answer, files, proposals, refusals and usage", () => {
    const log = fullTurn(new EventLog(), "t0").status("t", InvokeState.STARTED);
    for (const [index, [name, failure, error]] of [
      ["Bash", FailureClass.PERMISSION_DENIED, "no"],
      ["Write", FailureClass.PERMISSION_DENIED, "no"],
      ["Bash", FailureClass.UNSPECIFIED, ""],
    ].entries() as IterableIterator<[number, [string, FailureClass, string]]>)
      refused(`c${index}`, name, failure, error)(log);
    const files = [{ path: "a", operation: ChangeOperation.UPDATE, beforeSha256: "1", afterSha256: "2" }];
    log
      .add("t", { case: "changeSetApplied", value: { changeSetId: "t", files } })
      .add("t", { case: "checkpointClosed", value: { checkpointId: "c", files: [{ path: "a" }, { path: "b" }] } })
      .add("t", { case: "proposedChanges", value: { proposalId: "p", changes: [{ id: "1", path: "a" }] } })
      .add("t", { case: "usage", value: { inputTokens: 3, outputTokens: 4, cachedInputTokens: 1 } })
      .add("t", { case: "final", value: { text: "Done." } })
      .status("t", InvokeState.COMPLETED);
    expect(turnReport(viewOf(log.events), "t")).toMatchObject({
      outcome: "completed",
      text: "Done.",
      changedFiles: ["a", "b"],
      commandsChangedFiles: true,
      proposals: [{ proposalId: "p" }],
      refused: ["Write"],
      cutOff: undefined,
      usage: { inputTokens: 3, outputTokens: 4, cachedInputTokens: 1, modelCalls: 1, unpricedCalls: 1 },
    });
  });

  it("is nothing but an interruption where the server no longer runs it", () => {
    const log = new EventLog().status("t", InvokeState.STARTED);
    expect(turnReport(viewOf(log.events), "t")).toMatchObject({ outcome: "interrupted", text: "", changedFiles: [] });
  });
});
