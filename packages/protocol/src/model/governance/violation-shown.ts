/** Milliseconds that the last violation stays in the status of rules before their number is shown again. */
export const violationShownMs = 10_000;
