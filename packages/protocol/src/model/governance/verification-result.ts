import type { VerificationResult as ResultMessage } from "../../gen/gennai/agent/v1/plan_pb.ts";

/** A verification command of a plan that really ran, or was refused. */
export interface VerificationResult {
  readonly stepId: string;
  readonly command: string;
  readonly passed: boolean;
  readonly exitCode?: number;
  /** Redacted, bounded. */
  readonly output: string;
}

export function verificationResultFromMessage(message: ResultMessage): VerificationResult {
  const { stepId, command, passed, exitCode, output } = message;
  return { stepId, command, passed, ...(exitCode === undefined ? {} : { exitCode }), output };
}
