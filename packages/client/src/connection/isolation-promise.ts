import type { GetServerInfoResponse } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";

/** What a client requires of a server that may have been started by others. */
export interface WantedIsolation {
  readonly sandbox: "auto" | "required" | "off";
  readonly stages: "auto" | "required" | "off";
}

export interface LackingIsolation {
  /** Behind the server's name, e.g. `runs commands without a sandbox: …` */
  readonly problem: string;
  /** The `gennai serve` option it should have been started with. */
  readonly option: string;
}

/** Required isolation that a server does not promise; undefined: none is missing. */
export function lackingIsolation(
  info: GetServerInfoResponse,
  { sandbox, stages }: WantedIsolation,
): LackingIsolation | undefined {
  const unsandboxed = sandbox === "required" ? unsandboxedPart(info) : undefined;
  if (unsandboxed !== undefined) return { problem: unsandboxed, option: "--sandbox required" };
  if (stages !== "required" || info.stages === "required") return undefined;
  return { problem: "does not promise that each command is staged.", option: "--stages required" };
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
