/** One thing the offline assistant was asked to do. Paths and globs are as the user wrote them. */
export type Step =
  | { readonly kind: "replace"; readonly find: string; readonly replacement: string; readonly path: string }
  | { readonly kind: "create"; readonly path: string; readonly content: string }
  | { readonly kind: "append"; readonly path: string; readonly text: string }
  | { readonly kind: "delete"; readonly path: string }
  | { readonly kind: "find"; readonly text: string; readonly glob: string | undefined }
  | { readonly kind: "show"; readonly path: string }
  | { readonly kind: "list"; readonly path: string | undefined }
  | { readonly kind: "run"; readonly command: string }
  | { readonly kind: "terminal"; readonly command: string }
  /** At the end of a plan, what proves it; elsewhere a command like others. */
  | { readonly kind: "verify"; readonly command: string }
  | { readonly kind: "say"; readonly text: string };

export type StepOf<Kind extends Step["kind"]> = Extract<Step, { readonly kind: Kind }>;

/** A step that changes files. The path of `replace` may be a glob. */
export type ChangeStep = StepOf<"replace" | "create" | "append" | "delete">;

export function isChange(step: Step): step is ChangeStep {
  return ["replace", "create", "append", "delete"].includes(step.kind);
}

/** The step in a few words, for reports. */
export function describeStep(step: Step): string {
  switch (step.kind) {
    case "replace":
      return `replace ${quote(step.find)} with ${quote(step.replacement)} in ${step.path}`;
    case "append":
      return `append to ${step.path}`;
    case "create":
    case "delete":
    case "show":
      return `${step.kind} ${step.path}`;
    case "find":
      return `find ${quote(step.text)}${step.glob === undefined ? "" : ` in ${step.glob}`}`;
    case "list":
      return `list ${step.path ?? "the working directory"}`;
    case "run":
    case "verify":
      return `${step.kind} ${quote(step.command)}`;
    case "terminal":
      return `run ${quote(step.command)} in the terminal`;
    case "say":
      return `say ${quote(step.text)}`;
  }
}

/** A text in quotation marks, on one line and short. */
export function quote(text: string): string {
  const line = text.replaceAll(/\s+/g, " ");
  return `“${line.length > 60 ? `${line.slice(0, 59)}…` : line}”`;
}
