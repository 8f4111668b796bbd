/** Statuses that say somebody is to work on the intent now. */
const active: ReadonlySet<string> = new Set(["active", "in_progress", "inprogress", "ongoing", "doing"]);

/**
 * Statuses that are known and do not mean active. `open` is among them: it says that an intent is not finished, not that
 * work on it was authorised.
 */
const inactive: ReadonlySet<string> = new Set(
  (
    "open new ready todo to_do backlog planned pending proposed draft blocked paused on_hold waiting review in_review " +
    "done complete completed closed resolved cancelled canceled rejected abandoned archived deprecated inactive"
  ).split(" "),
);

/** Whether a status, in any letter case and with `-`, `_` or blanks between its words, means that work may go on. */
export function statusMeans(status: string): "active" | "inactive" | "unknown" {
  const word = status
    .trim()
    .toLowerCase()
    .replaceAll(/[\s_-]+/g, "_");
  if (active.has(word)) return "active";
  return inactive.has(word) ? "inactive" : "unknown";
}
