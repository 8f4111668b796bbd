import { it } from "vitest";
import { type ConversationRow, expectRow } from "./conversation-row.ts";
import { codeTools } from "./tool-world.ts";

/** A workspace that asks for one of these intents before anything changes. */
function asksFor(...ids: readonly string[]): NonNullable<ConversationRow["refuse"]> {
  let selected = false;
  return (name, args) => {
    if (name === "select_active_intent") {
      selected = ids.includes(String(args["intent_id"]));
      return selected ? undefined : refusal("invalid_intent", ids);
    }
    return selected || name === "Read" || name === "Grep" || name === "Glob"
      ? undefined
      : refusal("intent_required", ids);
  };
}

function refusal(code: string, ids: readonly string[]) {
  const hint =
    ids.length === 0
      ? "No intent can be selected now."
      : `Call select_active_intent first, with one of: ${ids.join(", ")}.`;
  return { code, message: "You must cite a valid active Intent ID.", hint, retryable: true };
}

const intentTools = [...codeTools, "select_active_intent"];

const rows: readonly ConversationRow[] = [
  {
    name: "selects the only intent there is and repeats what was refused, without a word of changed files",
    files: { "a.txt": "foo\n", "b.txt": "foo\n" },
    say: "replace foo with bar in *.txt",
    tools: intentTools,
    refuse: asksFor("INT-1.2"),
    calls: [
      ...["Grep foo", "Read a.txt", "Read b.txt", "Edit a.txt", "Edit b.txt", "select_active_intent INT-1.2"],
      ...["Edit a.txt", "Edit b.txt"],
    ],
    after: { "a.txt": "bar\n", "b.txt": "bar\n" },
    answer: ["Changed 2 files:"],
    never: ["changed meanwhile"],
  },
  {
    name: "lists several intents and selects none of them by itself",
    files: { "a.txt": "foo\n" },
    say: "replace foo with bar in a.txt",
    tools: intentTools,
    refuse: asksFor("INT-1", "INT-2"),
    calls: ["Read a.txt", "Edit a.txt"],
    after: { "a.txt": "foo\n" },
    answer: ["You must cite a valid active Intent ID.", "run --intent ID"],
  },
  {
    name: "says when no intent can be selected",
    files: { "a.txt": "foo\n" },
    say: "delete a.txt",
    tools: intentTools,
    refuse: asksFor(),
    calls: ["Read a.txt", "Delete a.txt"],
    answer: ["You must cite a valid active Intent ID."],
  },
];

it.each(rows)("OfflineModel where changes need an intent: $name", expectRow);
