import type { EditorContext } from "@gennai/client/session/editor-context";

const textLimit = 60_000;

export interface ActiveDocument {
  readonly path: string;
  readonly language: string;
  /** With unsaved changes. */
  readonly text: string;
  readonly isDirty: boolean;
}

/** The prompt of a plan that starts from what the user has before them. */
export function planRequest(goal: string, document: ActiveDocument | undefined, context: EditorContext): string {
  if (document === undefined) return goal;
  const { selection } = context;
  const unsaved = document.isDirty ? "; it has unsaved changes, and the text below is what counts" : "";
  const shown =
    selection === undefined
      ? [`The open file is ${document.path}${unsaved}.`, fenced(document.language, document.text)]
      : [
          `The open file is ${document.path}${unsaved}; lines ${selection.startLine} to ${selection.endLine} are selected:`,
          fenced(document.language, selection.text),
        ];
  return [goal, "", ...shown].join("\n");
}

function fenced(language: string, text: string): string {
  const cut = text.length > textLimit;
  const fence = "`".repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map(([run]) => run.length + 1)));
  const body = cut ? text.slice(0, textLimit) : text;
  return `${fence}${language}\n${body}${body.endsWith("\n") ? "" : "\n"}${fence}${cut ? "\n(The rest is left out.)" : ""}`;
}

/** Whether a text looks like a plan that can be handed in as it is. */
export function looksLikePlan(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null) return false;
    return ("steps" in value && Array.isArray(value.steps)) || "plan" in value || "kind" in value;
  } catch {
    return false;
  }
}
