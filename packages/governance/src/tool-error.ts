import type { ErrorCode } from "@gennai/protocol/errors/error-code";
import type { FailureClass } from "@gennai/protocol/model/governance/tool-outcome";
import type { Finding } from "./verdict.ts";

/** The common form of a refused or failed call for the model. */
export interface ToolError {
  readonly code: string;
  readonly message: string;
  readonly rule?: string;
  readonly hint?: string;
  readonly retryable: boolean;
  /** More than a sentence, e.g. the three texts of a stale file, compared. Masked and bounded. */
  readonly detail?: string;
}

/** Thrown by a tool's `analyse` or `execute` for an expected failure: it becomes a result the model can mend. */
export class ToolFailure extends Error {
  readonly code: ErrorCode;
  readonly failureClass: FailureClass;
  readonly hint: string | undefined;
  readonly retryable: boolean;

  constructor(
    code: ErrorCode,
    message: string,
    options: {
      readonly failureClass?: FailureClass;
      readonly hint?: string | undefined;
      readonly retryable?: boolean;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = "ToolFailure";
    this.code = code;
    this.failureClass = options.failureClass ?? "command_error";
    this.hint = options.hint;
    this.retryable = options.retryable ?? false;
  }

  toToolError(): ToolError {
    return {
      code: this.code,
      message: this.message,
      ...(this.hint === undefined ? {} : { hint: this.hint }),
      retryable: this.retryable,
    };
  }
}

export function toolErrorFromFinding(finding: Finding): ToolError {
  return {
    code: finding.code,
    message: finding.reason,
    rule: finding.rule,
    ...(finding.hint === undefined ? {} : { hint: finding.hint }),
    retryable: finding.retryable ?? false,
  };
}

/** `{"error":{…}}`, as the model reads it. */
export function toolErrorJson(error: ToolError): string {
  return JSON.stringify({ error });
}
