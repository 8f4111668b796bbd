import { ServiceError } from "@gennai/machine/service-error";
import type { Session } from "../session/session.ts";

/** The error for what works only on files of this machine. @param instead what to do, or who can do it; a sentence */
export function heldByClient(instead: string): ServiceError {
  return new ServiceError(
    "failed_precondition",
    `A client holds this workspace, the server cannot reach it. ${instead}`,
    {
      reason: "not_held_here",
      hint: "Do it where the files are.",
    },
  );
}

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
