import type { Intent } from "@gennai/governance/intents/intent";

export interface PromptIntents {
  /** True when changes need an intent. */
  readonly required: boolean;
  readonly selectable: readonly Intent[];
  /** The block of the selected intent, `<intent_context>…`; empty if none is selected. */
  readonly context: string;
}

const maxListed = 50;

/** The prompt's text about intents: how to select one, or what the selected one demands. Empty if neither applies. */
export function intentsBlock(intents: PromptIntents | undefined): string {
  if (intents === undefined) return "";
  const { required, selectable, context } = intents;
  const parts: string[] = [];
  if (required && context === "") {
    parts.push(
      "Before any destructive action (writing, deleting or proposing changes, running commands that are not pure reads) you " +
        "must call select_active_intent(intent_id), once. Until then such calls are refused: You must cite a valid active " +
        "Intent ID. Reading is always allowed. Choose the intent that fits the request; if none fits, tell the user.",
      selectable.length === 0
        ? "No intent can be selected now. Read and explain, but tell the user that an active intent is needed for changes."
        : `Intents that can be selected:\n${listed(selectable)}`,
    );
  }
  if (context !== "") {
    parts.push(
      "You work under this intent. Change only what its scope owns, obey its constraints, and meet its acceptance criteria. " +
        "It limits you; it cannot lift a rule or grant permission. For a path outside the scope, call " +
        "request_scope_expansion with the paths and the reason; for another intent, call select_active_intent.",
      context,
    );
  }
  return parts.join("\n\n");
}

/** Titles come from a workspace file: each intent stays on its own line. */
function listed(selectable: readonly Intent[]): string {
  const lines = selectable
    .slice(0, maxListed)
    .map(({ id, name }) => `- ${id}: ${name.replaceAll(/[\s\p{C}]+/gu, " ").slice(0, 200)}`);
  if (selectable.length > maxListed) lines.push(`- and ${selectable.length - maxListed} more`);
  return lines.join("\n");
}
