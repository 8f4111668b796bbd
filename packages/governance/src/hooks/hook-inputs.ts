import type { Effect } from "../effect.ts";

/**
 * Values of `tool_input` for a hook, one for each run: the arguments; if the call names its files differently, once for each of
 * them as `file_path`, which hooks look at.
 */
export function hookInputs(call: {
  readonly toolName: string;
  /** In the form that policies see. */
  readonly args: unknown;
  readonly effects: readonly Effect[];
}): readonly unknown[] {
  const { toolName, args, effects } = call;
  if (toolName !== "apply_patch" && toolName !== "NotebookEdit") return [args];
  const paths = effects.flatMap((effect) =>
    effect.type === "write" || effect.type === "propose" ? [effect.path.absolute] : [],
  );
  if (paths.length === 0 || typeof args !== "object" || args === null || "file_path" in args) return [args];
  return [...new Set(paths)].map((path) => Object.assign({}, args, { file_path: path }));
}
