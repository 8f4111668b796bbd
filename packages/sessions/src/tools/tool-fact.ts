import type { DirectoryChangeRecord, FileChangeRecord } from "@gennai/agent/events/proposal";
import type { Intent } from "@gennai/governance/intents/intent";
import type { RefMove } from "@gennai/governance/tool";
import type { Proposal } from "@gennai/protocol/model/session/proposal";
import type { Todo } from "@gennai/protocol/model/session/todo";

/** What a tool reports to the session's log besides its result. In `ToolOutcome.facts`, which the gate ignores. */
export type ToolFact =
  /**
   * Files were changed on disk, and refs moved, as part of the turn's change set. The bytes before each change are a blob under
   * `beforeSha256`, or kept by the commit that made it.
   */
  | {
      readonly type: "change-set";
      readonly files: readonly FileChangeRecord[];
      readonly directories?: readonly DirectoryChangeRecord[];
      readonly refs?: readonly RefMove[];
    }
  | { readonly type: "proposal"; readonly proposal: Proposal }
  /** The result of questions to the user, for the ledger. `by`: who answered; empty if nobody did. */
  | { readonly type: "user-asked"; readonly end: string; readonly by: string }
  /** The whole current list of todos. */
  | { readonly type: "todos"; readonly items: readonly Todo[] }
  /** The session's new intent, also if only its scope grew. `context` is its block for the model. */
  | { readonly type: "intent-selected"; readonly intent: Intent; readonly context: string };

const required: Record<ToolFact["type"], readonly string[]> = {
  "change-set": ["files"],
  proposal: ["proposal"],
  "user-asked": ["end", "by"],
  todos: ["items"],
  "intent-selected": ["intent", "context"],
};

/** True for a fact made by a tool in this folder. */
export function isToolFact(value: unknown): value is ToolFact {
  if (typeof value !== "object" || value === null || !("type" in value)) return false;
  const { type } = value;
  return isFactType(type) && required[type].every((name) => name in value);
}

function isFactType(type: unknown): type is ToolFact["type"] {
  return typeof type === "string" && Object.hasOwn(required, type);
}
