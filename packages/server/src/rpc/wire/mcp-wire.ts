import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { McpServerState } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { describedStart } from "@gennai/sessions/mcp/described-start";
import type { McpStatus } from "@gennai/sessions/mcp/mcp-acceptance";

/** @param detailed whether the caller may know the start command, which may contain the operator's keys */
export function mcpServerToWire(
  { server, accepted, changed, loggedIn }: McpStatus,
  { detailed }: { readonly detailed: boolean },
) {
  const { name, origin, written, runs, digest } = server;
  const state = accepted ? McpServerState.ACCEPTED : changed ? McpServerState.CHANGED : McpServerState.NEW;
  if (!detailed) return { name, origin, state };
  return {
    name,
    origin,
    state,
    digest,
    start: describedStart(written, "masked").join("\n"),
    logsIn: accepted && server.start.type === "http",
    ...(loggedIn === undefined ? {} : { loggedIn: timestampFromMs(Date.parse(loggedIn)) }),
    runs: Object.entries(runs).map(([part, content]) => ({ name: part, content })),
  };
}
