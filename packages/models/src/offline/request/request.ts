/** One thing the offline assistant was asked to do. Paths and globs are as the user wrote them. */
export type Step =
  | { readonly kind: "replace"; readonly find: string; readonly replacement: string; readonly glob: string }
  | { readonly kind: "move"; readonly from: string; readonly to: string }
  | { readonly kind: "create"; readonly path: string; readonly content: string }
  | { readonly kind: "append"; readonly path: string; readonly text: string }
  | { readonly kind: "delete"; readonly path: string }
  | { readonly kind: "find"; readonly text: string; readonly glob: string | undefined }
  | { readonly kind: "show"; readonly path: string }
  | { readonly kind: "list"; readonly path: string | undefined }
  | { readonly kind: "run"; readonly command: string; readonly terminal: boolean }
  | { readonly kind: "add-todo"; readonly text: string }
  | { readonly kind: "show-todos" }
  | { readonly kind: "use-intent"; readonly id: string }
  | { readonly kind: "request-scope"; readonly paths: readonly string[]; readonly reason: string }
  | { readonly kind: "remember"; readonly lesson: string }
  | { readonly kind: "say"; readonly text: string };

/** The step in a few words, for reports. */
export function describeStep(step: Step): string {
  switch (step.kind) {
    case "replace":
      return `replace ${quote(step.find)} with ${quote(step.replacement)} in ${step.glob}`;
    case "move":
      return `move ${step.from} to ${step.to}`;
    case "create":
      return `create ${step.path}`;
    case "append":
      return `append to ${step.path}`;
    case "delete":
      return `delete ${step.path}`;
    case "find":
      return `find ${quote(step.text)}${step.glob === undefined ? "" : ` in ${step.glob}`}`;
    case "show":
      return `show ${step.path}`;
    case "list":
      return `list ${step.path ?? "the working directory"}`;
    case "run":
      return `run ${quote(step.command)}${step.terminal ? " in the terminal" : ""}`;
    case "add-todo":
      return `add the todo ${quote(step.text)}`;
    case "show-todos":
      return "show the todos";
    case "use-intent":
      return `use the intent ${step.id}`;
    case "request-scope":
      return `request scope for ${step.paths.join(", ")}`;
    case "remember":
      return `remember ${quote(step.lesson)}`;
    case "say":
      return `say ${quote(step.text)}`;
  }
}

/** A text in quotation marks, on one line and short. */
export function quote(text: string): string {
  const line = text.replaceAll(/\s+/g, " ");
  return `“${line.length > 60 ? `${line.slice(0, 59)}…` : line}”`;
}
