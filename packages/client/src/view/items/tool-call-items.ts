import type { ToolResult } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import type { GateDecision } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { riskWords } from "@gennai/protocol/model/governance/risk";
import { verdictFromMessage } from "@gennai/protocol/model/governance/tool-outcome";
import type { AppliedFile } from "@gennai/protocol/model/session/proposal";
import { StreamedText } from "../../session/text/streamed-text.ts";
import type { ItemList, ItemStart, OpenCell } from "./item-list.ts";
import { joinFiles, toolResultView } from "./view-from-wire.ts";
import type { ItemCell, ToolCallItem, ToolCallStatus, ToolResultView, Violation } from "./view-item.ts";

/** Most characters of live output that are shown. */
const liveOutputKept = 64 * 1024;

/** The tool calls of a session, made from the events that name them. */
export class ToolCallItems {
  readonly #items: ItemList;
  /** Calls that the model is still writing, by the item id of the events. */
  readonly #writing = new Map<string, CallRecord>();
  /** The newest call of each id: some models use the same ids in every answer. */
  readonly #byId = new Map<string, CallRecord>();
  readonly #unfinished = new Set<CallRecord>();

  constructor(items: ItemList) {
    this.#items = items;
  }

  /** The newest call of that id, whatever happened to it. */
  of(callId: string): ItemCell<ToolCallItem> | undefined {
    return this.#byId.get(callId)?.cell;
  }

  start(place: ItemStart, itemId: string, call: { readonly id: string; readonly name: string }): void {
    this.#writing.set(itemId, this.#open(place, call.id, call.name, "writing"));
  }

  write(itemId: string, piece: { readonly firstSeq: bigint; readonly text: string }): void {
    const record = this.#writing.get(itemId);
    if (record === undefined) return;
    record.arguments.add(piece);
    change(record, { argumentsJson: record.arguments.text });
  }

  /** The call as the model completed it; its id may differ from the one that it began with. */
  complete(
    place: ItemStart,
    itemId: string,
    call: { readonly id: string; readonly name: string; readonly argumentsJson: string },
  ): OpenCell<ToolCallItem> {
    const record = this.#writing.get(itemId) ?? this.#open(place, call.id, call.name, "waiting");
    this.#writing.delete(itemId);
    this.#byId.set(call.id, record);
    change(record, { callId: call.id, name: call.name, argumentsJson: call.argumentsJson, status: "waiting" });
    return record.cell;
  }

  decide(decision: GateDecision): void {
    const record = this.#byId.get(decision.toolCallId);
    if (record === undefined) return;
    const { rule, reason } = decision;
    change(record, {
      decision: {
        verdict: verdictFromMessage(decision.verdict),
        risk: riskWords.fromMessage(decision.risk),
        rule,
        reason,
      },
    });
  }

  violate(callId: string, violation: Violation | undefined): void {
    const record = this.#byId.get(callId);
    if (record !== undefined) change(record, { violation });
  }

  /** @param turnId differs from the call's own turn if that was cut off before the call ran */
  run(callId: string, turnId: string, time: Date | undefined): void {
    const record = this.#byId.get(callId);
    if (record === undefined) return;
    record.turnId = turnId;
    this.#unfinished.add(record);
    change(record, { status: "running", startedAt: time, endedAt: undefined });
  }

  /** @returns the part that was not there before */
  output(callId: string, piece: { readonly firstSeq: bigint; readonly text: string }): string {
    const record = this.#byId.get(callId);
    if (record === undefined) return piece.text;
    const added = record.output.add(piece);
    change(record, { liveOutput: record.output.text, liveOutputCut: record.output.cut });
    return added;
  }

  finish(result: ToolResult, time: Date | undefined): void {
    const record = this.#byId.get(result.id);
    if (record === undefined) return;
    const view = toolResultView(result);
    const { decision, status } = record.cell.item.value;
    const isRefused = decision?.verdict === "deny" || view.failureClass === "permission_denied";
    change(record, {
      result: view,
      endedAt: time,
      status: status !== "running" && isRefused ? "refused" : outcome(view),
    });
    this.#unfinished.delete(record);
  }

  /** What a call did to files. */
  changed(callId: string, files: readonly AppliedFile[]): void {
    const record = this.#byId.get(callId);
    if (record !== undefined) change(record, { changes: joinFiles(record.cell.item.value.changes, files) });
  }

  /** The calls of this turn get no more events. */
  endTurn(turnId: string, time: Date | undefined): void {
    this.#writing.clear();
    for (const record of this.#unfinished) {
      if (record.turnId !== turnId) continue;
      this.#unfinished.delete(record);
      change(record, { status: "ended", endedAt: time });
    }
  }

  #open(place: ItemStart, callId: string, name: string, status: ToolCallStatus): CallRecord {
    const cell = this.#items.add<ToolCallItem>(place, {
      kind: "tool-call",
      callId,
      name,
      status,
      argumentsJson: "",
      decision: undefined,
      violation: undefined,
      liveOutput: "",
      liveOutputCut: false,
      result: undefined,
      changes: [],
      startedAt: undefined,
      endedAt: undefined,
    });
    const record = {
      cell,
      turnId: place.turnId,
      arguments: new StreamedText(),
      output: new StreamedText(liveOutputKept),
    };
    this.#unfinished.add(record);
    return record;
  }
}

interface CallRecord {
  readonly cell: OpenCell<ToolCallItem>;
  /** Id of the turn that runs it. */
  turnId: string;
  readonly arguments: StreamedText;
  readonly output: StreamedText;
}

function change({ cell }: CallRecord, fields: Partial<ToolCallItem>): void {
  cell.item.value = { ...cell.item.value, ...fields };
}

function outcome({ error, exitCode, verification, failureClass }: ToolResultView): ToolCallStatus {
  const failed =
    error !== "" || failureClass !== "" || verification === "failed" || (exitCode !== undefined && exitCode !== 0);
  return failed ? "failed" : "done";
}
