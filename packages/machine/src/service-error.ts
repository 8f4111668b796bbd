import { ExpectedError } from "./expected-error.ts";

/** Stable codes of what can go wrong between a client and the service; `rpc/errors/connect-error.ts` maps them to Connect's. */
export type ServiceErrorCode =
  | "invalid_argument"
  | "not_found"
  | "already_exists"
  | "permission_denied"
  | "unauthenticated"
  | "failed_precondition"
  | "resource_exhausted"
  | "unavailable";

/** An expected failure of the service. Its message is for people and is sent as it is. */
export class ServiceError extends ExpectedError {
  readonly code: ServiceErrorCode;
  readonly isWrongInput: boolean = false;
  /** Says more exactly than the code why, e.g. `token_expired`; stable. */
  override readonly reason: string | undefined;
  /** Milliseconds after which the same may work; undefined: waiting alone changes nothing. */
  readonly retryAfterMs: number | undefined;

  constructor(
    code: ServiceErrorCode,
    message: string,
    options: {
      readonly hint?: string | undefined;
      readonly reason?: string;
      readonly retryAfterMs?: number;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, options);
    this.name = "ServiceError";
    this.code = code;
    this.reason = options.reason;
    this.retryAfterMs = options.retryAfterMs;
  }
}
