import { ServiceError } from "@gennai/machine/service-error";

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
