import type { Session } from "../session/session.ts";

/** How a session's commands are isolated from the machine they run on, and why. */
export function placeOfCommands({ services, workspace }: Pick<Session, "services" | "workspace">): {
  readonly isolation: "sandboxed" | "unsandboxed";
  readonly isolationReason: string;
} {
  const { client } = workspace;
  if (client === undefined) return { isolation: services.isolation, isolationReason: services.sandbox.reason };
  const isolation = client.commands === "sandboxed" ? "sandboxed" : "unsandboxed";
  return { isolation, isolationReason: "commands run at the client that holds the files" };
}
