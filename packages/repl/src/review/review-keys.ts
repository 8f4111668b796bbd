export type ReviewCommand = "next" | "previous" | "keep" | "undo" | "edit" | "apply" | "help";

/** The keys in a review, in the order of the help. */
export const reviewKeys: readonly { readonly key: string; readonly command: ReviewCommand; readonly says: string }[] = [
  { key: "j", command: "next", says: "next hunk" },
  { key: "k", command: "previous", says: "previous hunk" },
  { key: "y", command: "keep", says: "keep the hunk" },
  { key: "n", command: "undo", says: "refuse the hunk" },
  { key: "e", command: "edit", says: "edit the hunk" },
  { key: "Enter", command: "apply", says: "apply, after one more look" },
  { key: "?", command: "help", says: "show or hide this help" },
];

type KeyPress = Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "altKey" | "repeat" | "target">;

/** undefined for a key that belongs to something else: a field, a question, a button, or a key combination. */
export function commandOf(event: KeyPress): ReviewCommand | undefined {
  if (event.ctrlKey || event.metaKey || event.altKey) return undefined;
  const command = reviewKeys.find(({ key }) => key === event.key)?.command;
  if (command === undefined || belongsToField(event.target)) return undefined;
  // A held key only moves, and decides nothing.
  if (event.repeat && command !== "next" && command !== "previous") return undefined;
  return command === "apply" && isControl(event.target) ? undefined : command;
}

const fields = "input, textarea, select, [contenteditable], .code-pane, dialog, [role=dialog], .confirmation";

function belongsToField(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest(fields) !== null;
}

function isControl(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("button, a, summary, [role=button]") !== null;
}
