import type { Session } from "../session/session.ts";

/** How a session's commands are kept apart from the machine they run on, and by what; or why they are not. */
export function placeOfCommands({ services, workspace }: Pick<Session, "services" | "workspace">): {
  readonly isolation: "sandboxed" | "unsandboxed";
  readonly isolationReason: string;
} {
  if (workspace.client !== undefined)
    return { isolation: "unsandboxed", isolationReason: "commands run at the client that holds the files" };
  const { stages, isolationReason } = services;
  const obstacle = stages?.knownObstacle(workspace.root);
  return stages === undefined || obstacle !== undefined
    ? { isolation: "unsandboxed", isolationReason: obstacle ?? isolationReason }
    : { isolation: "sandboxed", isolationReason };
}
