import type { OpenCall } from "@gennai/agent/conversation";
import type { ToolCall } from "@gennai/governance/gate/gate-journal";
import { redactionMarker } from "@gennai/governance/redaction";

/**
 * What a turn that was cut off still has to run: its open calls in order, as long as they had not begun or may be made twice.
 * Up to the first one that may not run: those behind it were meant for what it would have left, so that the model decides.
 * A secret of a call is masked in the log, so that such a call is the model's to make again.
 */
export function callsToRun(
  openCalls: readonly OpenCall[],
  isRepeatable: (call: ToolCall) => boolean,
): readonly ToolCall[] {
  const mayRun = (call: OpenCall) =>
    (!call.begun || isRepeatable(call)) && !call.argumentsJson.includes(redactionMarker);
  const barred = openCalls.findIndex((call) => !mayRun(call));
  const calls = barred === -1 ? openCalls : openCalls.slice(0, barred);
  return calls.map(({ id, name, argumentsJson }) => ({ id, name, argumentsJson }));
}
