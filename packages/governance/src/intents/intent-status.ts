/** Statuses that say that the intent is being worked on now. */
const active: ReadonlySet<string> = new Set(["active", "in_progress", "inprogress", "ongoing", "doing"]);

/**
 * Known statuses that do not mean active. `open` is among them: it says that an intent is unfinished, not that work on it is
 * authorised.
 */
const inactive: ReadonlySet<string> = new Set(
  (
    "open new ready todo to_do backlog planned pending proposed draft blocked paused on_hold waiting review in_review " +
    "done complete completed closed resolved cancelled canceled rejected abandoned archived deprecated inactive"
  ).split(" "),
);

/** Whether a status, in any letter case and with `-`, `_` or spaces between its words, means that work may continue. */
export function statusMeans(status: string): "active" | "inactive" | "unknown" {
  const word = status
    .trim()
    .toLowerCase()
    .replaceAll(/[\s_-]+/g, "_");
  if (active.has(word)) return "active";
  return inactive.has(word) ? "inactive" : "unknown";
}
