import { ToolFailure } from "@gennai/governance/tool-error";
import { ServiceError } from "@gennai/machine/service-error";

/** Converts a stage's error, written for tools, into one for users, and throws it. */
export function asServiceError(error: unknown): never {
  if (!(error instanceof ToolFailure)) throw error;
  const { hint } = error;
  throw new ServiceError("failed_precondition", error.message, {
    cause: error,
    ...(hint === undefined ? {} : { hint }),
  });
}
