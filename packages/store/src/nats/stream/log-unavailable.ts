import { StoreError } from "../../database/store-error.ts";

/** NATS did not answer for as long as one waits for it. */
export function logUnavailable(cause: unknown): StoreError {
  return new StoreError("unavailable", "The log's NATS servers do not answer: look at them.", { cause });
}
