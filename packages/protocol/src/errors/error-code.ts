import type { gateErrors } from "./gate-errors.ts";
import type { requestErrors } from "./request-errors.ts";
import type { toolErrors } from "./tool-errors.ts";
import type { turnErrors } from "./turn-errors.ts";

/**
 * Every code that a refused or failed call, a failed turn or a refused request can carry. A new one is written down in one of
 * these lists first, with what it means and what to do next: `docs/reference/errors.md` is generated from them.
 */
export type ErrorCode =
  | keyof typeof gateErrors
  | keyof typeof toolErrors
  | keyof typeof turnErrors
  | keyof typeof requestErrors;
