import type { OpenCall } from "@gennai/agent/conversation/conversation";
import type { ToolCall } from "@gennai/governance/gate-journal";
import { redactionMarker } from "@gennai/governance/redaction";

/**
 * The calls that an interrupted turn still has to run: its open calls in order, if they had not begun or may be repeated. Stops
 * at the first that may not run: later ones relied on its result, so the model decides. A call with a masked secret must be
 * made again by the model.
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
