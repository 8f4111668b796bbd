import { ChangeOperation, InvokeState } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { FailureClass, RiskLevel, Verdict } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SessionView } from "#view/session-view";
import { turnWords } from "#view/turn-words";
import { EventLog, fullTurn, itemsOf, ofKind, replay, viewOf } from "./wire-events.ts";

const shown = (view: SessionView) => ({
  facts: view.facts.value,
  lastSeq: view.lastSeq,
  cells: view.cells.map(({ key, seq, turnId, item }) => ({ key, seq, turnId, item: item.value })),
});

describe("the same events make the same view", () => {
  const log = fullTurn(
    fullTurn(new EventLog().add("", { case: "sessionStarted", value: { workingDir: "/w" } }), "t1"),
    "t2",
  );
  const { events } = log;
  const once = shown(viewOf(events));

  it("however the connection breaks, however replays overlap and join deltas", () => {
    const broken = fc.array(
      fc.record({ seen: fc.nat(events.length), back: fc.nat(events.length), joins: fc.array(fc.boolean()) }),
      { maxLength: 8 },
    );
    fc.assert(
      fc.property(broken, (connections) => {
        const view = new SessionView();
        // What a client asks for is a seq that an event ended with.
        const known = [0];
        const starts = new Set<number>();
        for (const { seen, back, joins } of [
          ...connections,
          { seen: events.length, back: events.length, joins: [true] },
        ]) {
          const from = known[back % known.length] ?? 0;
          const last = Number(view.lastSeq);
          // Joined pieces are not taken apart again: a replay sends one in place of several.
          const sent = replay(events, from, (index) => {
            const wanted = joins[index % Math.max(1, joins.length)] ?? false;
            return wanted || (index < last && !starts.has(index + 1));
          });
          for (const event of sent.slice(0, seen)) {
            if (event.seq > view.lastSeq) {
              known.push(Number(event.seq));
              starts.add(Number(event.firstSeq));
            }
            view.apply(event);
          }
        }
        expect(shown(view)).toEqual(once);
      }),
      { numRuns: 300 },
    );
  });

  it("keeps a cell for each item, and gives each a key of its own", () => {
    const { cells } = viewOf(events);
    expect(new Set(cells.map(({ key }) => key)).size).toBe(cells.length);
    expect(cells.map(({ item }) => item.value.kind)).toEqual([
      ...[
        ...["user-message", "thinking", "assistant", "tool-call", "client-request", "plan", "assistant"],
        ...["change-set", "turn-end"],
      ],
      ...[
        ...["user-message", "thinking", "assistant", "tool-call", "client-request", "assistant", "change-set"],
        "turn-end",
      ],
    ]);
  });

  it("touches only the item that a delta belongs to", () => {
    const view = viewOf(events.slice(0, 8));
    const before = view.cells.map(({ item }) => item.value);
    const next = events[8];
    if (next === undefined) throw new Error("too few events");
    view.apply(next);
    const after = view.cells.map(({ item }) => item.value);
    expect(after.filter((item, index) => item !== before[index])).toHaveLength(1);
  });

  it("costs the same for each delta of a long text", () => {
    const long = new EventLog();
    for (let index = 0; index < 50_000; index++) long.add("t", { case: "assistantDelta", value: { text: "x" } }, "i");
    const began = process.cpuUsage();
    const items = itemsOf(long);
    expect(process.cpuUsage(began).user / 1000).toBeLessThan(2000);
    expect(items[0]).toMatchObject({ kind: "assistant", streaming: true });
    expect(ofKind(items, "assistant")[0]?.text).toHaveLength(50_000);
  });
});

describe("a tool call", () => {
  const call = { id: "c", name: "Bash", argumentsJson: "{}" };
  const rows = [
    ["that ran", { exitCode: 0 }, true, "done"],
    ["whose command failed", { exitCode: 3, error: "exit 3" }, true, "failed"],
    ["with an exit code that nobody knows", {}, true, "done"],
    ["that could not begin", { error: "old_string is not in a" }, false, "failed"],
    ["that was refused", { error: "no", failureClass: FailureClass.PERMISSION_DENIED }, false, "refused"],
  ] as const;
  it.each(rows)("%s", (_name, result, ran, status) => {
    const log = new EventLog().add("t", { case: "toolCall", value: call }, "c");
    if (ran) log.status("t", InvokeState.RUN_TOOL, { toolCallId: "c", toolName: "Bash" });
    log.add("t", { case: "toolResult", value: { id: "c", output: "", ...result } });
    const [item] = ofKind(itemsOf(log), "tool-call");
    expect(item?.status).toBe(status);
    expect(item?.result?.exitCode).toBe("exitCode" in result ? result.exitCode : undefined);
  });

  it("shows the gate's words", () => {
    const decision = {
      toolCallId: "c",
      toolName: "Bash",
      verdict: Verdict.DENY,
      risk: RiskLevel.HIGH,
      rule: "floor/x",
      reason: "Because.",
    };
    const log = new EventLog()
      .add("t", { case: "toolCall", value: call }, "c")
      .add("t", { case: "gateDecision", value: decision });
    expect(ofKind(itemsOf(log), "tool-call")[0]?.decision).toEqual({
      verdict: "deny",
      risk: "high",
      rule: "floor/x",
      reason: "Because.",
    });
  });

  it("with an id that an earlier one had is another call", () => {
    const log = fullTurn(fullTurn(new EventLog(), "t1"), "t2");
    expect(ofKind(itemsOf(log), "tool-call").map(({ status, liveOutput }) => [status, liveOutput])).toEqual([
      ["done", "a\nb\nc\n"],
      ["done", "a\nb\nc\n"],
    ]);
  });

  it("takes the id it ends with, where one id is used twice in an answer", () => {
    const log = new EventLog();
    for (const id of ["c", "c-1"]) {
      log.add("t", { case: "toolCallStart", value: { id: "c", name: "Read" } }, "c");
      log.add("t", { case: "toolCall", value: { id, name: "Read", argumentsJson: `{"file_path":"${id}"}` } }, "c");
    }
    for (const id of ["c", "c-1"]) log.add("t", { case: "toolResult", value: { id, output: `of ${id}` } });
    expect(ofKind(itemsOf(log), "tool-call").map(({ callId, result }) => [callId, result?.output])).toEqual([
      ["c", "of c"],
      ["c-1", "of c-1"],
    ]);
  });

  it("ends with its turn", () => {
    const log = new EventLog().add("t", { case: "toolCall", value: call }, "c").status("t", InvokeState.CANCELLED);
    expect(ofKind(itemsOf(log), "tool-call")[0]?.status).toBe("ended");
  });

  it("shows the end of a long output, however it came", () => {
    const text = Array.from({ length: 40_000 }, (_, index) => `${index}\n`);
    const whole = new EventLog().add("t", { case: "toolCall", value: call }, "c");
    for (const piece of text) whole.add("t", { case: "toolOutputDelta", value: { id: "c", text: piece } }, "o");
    const joined = viewOf(replay(whole.events, 0, () => true)).cells[0]?.item.value;
    const [single] = ofKind(itemsOf(whole), "tool-call");
    expect(single).toEqual(joined);
    expect(single?.liveOutputCut).toBe(true);
    expect(text.join("").endsWith(single?.liveOutput ?? "?")).toBe(true);
  });
});

describe("what a session shows", () => {
  it("an answer that was not streamed", () => {
    const log = new EventLog().status("t", InvokeState.THINKING).add("t", { case: "final", value: { text: "Hello." } });
    expect(ofKind(itemsOf(log), "assistant")).toEqual([{ kind: "assistant", text: "Hello.", streaming: false }]);
  });

  it("a question, and who answered it", () => {
    const request = { requestId: "q", title: "Push?", actionJson: "{}", actionSha256: "wrong" };
    const log = new EventLog().add("t", { case: "confirmationRequest", value: request });
    expect(ofKind(itemsOf(log), "confirmation")[0]).toMatchObject({ state: "open", genuine: false });
    log.add("t", { case: "clientRequestResolved", value: { requestId: "q", resolution: 2 } });
    expect(ofKind(itemsOf(log), "confirmation")[0]).toMatchObject({ state: "timeout", answeredBy: "" });
  });

  it("a proposal, its review and the change set that came of it, taken back", () => {
    const files = [{ path: "a.ts", operation: ChangeOperation.CREATE, afterSha256: "2" }];
    // Undo could not bring it back.
    const lost = { path: "b.bin", operation: ChangeOperation.DELETE, beforeSha256: "1" };
    const log = new EventLog()
      .add("t", { case: "proposedChanges", value: { proposalId: "p", changes: [{ id: "1", path: "a.ts" }] } })
      .add("t", { case: "proposalReview", value: { proposalId: "p", hunks: [{ changeId: "1", decision: 1 }] } })
      .add("", { case: "changeSetApplied", value: { changeSetId: "s", proposalId: "p", files: [...files, lost] } })
      .add("", { case: "changeSetUndone", value: { changeSetId: "s", files } });
    const items = itemsOf(log);
    expect(ofKind(items, "proposal")[0]).toMatchObject({
      changeSetId: "s",
      review: { hunks: [{ decision: "keep" }] },
      undone: true,
    });
    expect(ofKind(items, "change-set")[0]).toMatchObject({ proposalId: "p", undone: true, files: [{ path: "a.ts" }] });
  });

  it("which proposals wait, and which change sets can be taken back, also of a turn that runs", () => {
    const value = { proposalId: "p", changes: [{ id: "1", path: "a.ts" }] };
    const log = new EventLog().status("t", InvokeState.STARTED).add("t", { case: "proposedChanges", value });
    const files = [{ path: "a.ts", operation: ChangeOperation.UPDATE, beforeSha256: "1", afterSha256: "2" }];
    log.add("", { case: "changeSetApplied", value: { changeSetId: "s", proposalId: "other", files } });
    log.add("t", { case: "changeSetApplied", value: { changeSetId: "t", files } });
    const before = viewOf(log.events);
    expect([...before.facts.value.openProposals.keys()]).toEqual(["p"]);
    expect(before.changeSets.map(({ changeSetId }) => changeSetId)).toEqual(["s", "t"]);
    log.add("", { case: "changeSetUndone", value: { changeSetId: "s", files: [] } });
    log.add("t", { case: "changeSetApplied", value: { changeSetId: "r", proposalId: "p", files } });
    const after = viewOf(log.events);
    expect({ open: after.facts.value.openProposals.size, kept: after.proposal("p")?.changeSetId }).toEqual({
      open: 0,
      kept: "r",
    });
    expect(after.changeSets.map(({ changeSetId }) => changeSetId)).toEqual(["r", "t"]);
  });

  it("one change set for all steps of a turn", () => {
    const step = (path: string, before: string, after: string) => ({
      changeSetId: "t",
      files: [
        {
          path,
          operation: before === "" ? ChangeOperation.CREATE : ChangeOperation.UPDATE,
          beforeSha256: before,
          afterSha256: after,
        },
      ],
    });
    const log = new EventLog().status("t", InvokeState.STARTED);
    for (const value of [step("a", "", "1"), step("a", "1", "2"), step("b", "8", "9")]) {
      log.add("t", { case: "changeSetApplied", value });
    }
    log.status("t", InvokeState.COMPLETED);
    expect(ofKind(itemsOf(log), "change-set").map(({ files }) => files)).toEqual([
      [
        { path: "a", operation: "create", beforeSha256: undefined, afterSha256: "2" },
        { path: "b", operation: "update", beforeSha256: "8", afterSha256: "9" },
      ],
    ]);
  });

  it("what is used and what runs", () => {
    const view = viewOf(fullTurn(new EventLog(), "t").events.slice(0, 18));
    expect(view.facts.value).toMatchObject({
      turn: { turnId: "t", phase: "running", toolName: "Bash" },
      usage: { inputTokens: 10, outputTokens: 5 },
    });
    expect(viewOf(fullTurn(new EventLog(), "t").events).facts.value.turn).toBeUndefined();
  });

  it("errors with their code and what to do next", () => {
    const log = new EventLog().add("t", { case: "error", value: "No model." });
    const event = log.events[0];
    if (event === undefined) throw new Error("no event");
    const errorInfo = {
      $typeName: "gennai.agent.v1.ErrorInfo" as const,
      code: "model_unreachable",
      message: "",
      hint: "Start it.",
      retryable: true,
      canContinue: false,
    };
    const [notice] = ofKind(
      viewOf([{ ...event, errorInfo }]).cells.map(({ item }) => item.value),
      "notice",
    );
    expect(notice).toMatchObject({ level: "error", code: "model_unreachable", hint: "Start it.", retryable: true });
  });
});

describe("what people are asked", () => {
  const question = (fields: object = {}) =>
    ({ case: "confirmationRequest", value: { requestId: "q", title: "Allow Bash?", ...fields } }) as const;
  const ofModel = { requestId: "m", questions: [{ question: "Which port?" }] };
  const running = () => new EventLog().status("t", InvokeState.RUN_TOOL, { toolName: "Bash" });
  const factsOf = (log: EventLog) => viewOf(log.events).facts.value;

  it("is told without secrets, and is what the turn waits for, whatever runs beside it", () => {
    const log = running().add("t", question({ maskedStatement: "Run ls" }));
    log
      .add("t", { case: "userQuestionRequest", value: ofModel })
      .status("t", InvokeState.RUN_TOOL, { toolName: "Read" });
    expect([...factsOf(log).questions]).toEqual([
      ["q", "Run ls"],
      ["m", "Which port?"],
    ]);
    expect(turnWords(factsOf(log).turn)).toBe("Waits for your answer");
    for (const requestId of ["q", "m"]) log.add("t", { case: "clientRequestResolved", value: { requestId } });
    expect(factsOf(log).questions.size).toBe(0);
    expect(turnWords(factsOf(log).turn)).toBe("Runs Read");
  });

  it.each([
    ["answered", (log: EventLog) => log.add("t", { case: "clientRequestResolved", value: { requestId: "q" } })],
    ["left when its turn ends", (log: EventLog) => log.status("t", InvokeState.INTERRUPTED)],
  ])("waits no longer once it is %s", (_name, end) => {
    expect(factsOf(end(running().add("t", question()))).questions.size).toBe(0);
  });

  it("does not wait where the event says that it was answered", () => {
    const log = running().add("t", question());
    expect(viewOf(log.events.map((event) => ({ ...event, resolved: true }))).facts.value.questions.size).toBe(0);
  });
});

it("shows the tries at a provider as one row, and another warning as its own", () => {
  const log = new EventLog();
  for (const number of [1, 2, 3]) {
    log.add("t", { case: "warning", value: `try ${number}` });
    log.add("t", { case: "status", value: { state: InvokeState.WAITING_FOR_PROVIDER } });
  }
  log.add("t", { case: "status", value: { state: InvokeState.THINKING } });
  log.add("t", { case: "assistantDelta", value: { text: "so" } });
  log.add("t", { case: "warning", value: "another" });
  log.add("t", { case: "warning", value: "and another" });
  const texts = ofKind(itemsOf(log), "notice").map(({ text }) => text);
  expect(texts).toEqual(["try 3", "another", "and another"]);
});
