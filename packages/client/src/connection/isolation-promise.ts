import { type CommandsMode, stagesWord } from "@gennai/protocol/commands-mode";
import type { GetServerInfoResponse } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";

/**
 * Why a server that others may have started is not as `gennai serve --commands staged`, behind its name, e.g.
 * `runs commands without a sandbox: …`; undefined if it is, or need not be.
 */
export function lackingIsolation(info: GetServerInfoResponse, wanted: CommandsMode): string | undefined {
  if (wanted !== "staged") return undefined;
  const isPromised = info.stages === stagesWord("staged");
  return unsandboxedPart(info) ?? (isPromised ? undefined : "does not promise that each command is staged.");
}

/** What this server runs outside a sandbox, according to its own information; undefined: nothing. */
function unsandboxedPart(info: GetServerInfoResponse): string | undefined {
  if (info.isolation !== "sandboxed") return `runs commands without a sandbox: ${info.isolationReason}.`;
  switch (info.gitIsolation) {
    case "sandboxed":
    case "missing":
      return undefined;
    case "unsandboxed":
      return `runs its own git without a sandbox: ${info.gitIsolationReason}.`;
    default:
      return "is too old to say whether its own git runs in a sandbox.";
  }
}
