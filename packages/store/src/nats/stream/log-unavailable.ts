import { StoreError } from "../../database/store-error.ts";

/** The error if NATS did not answer in time. */
export function logUnavailable(cause: unknown): StoreError {
  return new StoreError("unavailable", "The log's NATS servers do not answer: look at them.", { cause });
}
