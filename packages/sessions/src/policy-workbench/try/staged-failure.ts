import { ToolFailure } from "@gennai/governance/tool-error";
import { ServiceError } from "@gennai/machine/service-error";

/** Throws what a stage said to a tool as what a person reads. */
export function asServiceError(error: unknown): never {
  if (!(error instanceof ToolFailure)) throw error;
  const { hint } = error;
  throw new ServiceError("failed_precondition", error.message, {
    cause: error,
    ...(hint === undefined ? {} : { hint }),
  });
}
