import type { ChangeOperation } from "@gennai/protocol/model/session/proposal";

const marks = {
  create: ["A", "added"],
  update: ["M", "changed"],
  delete: ["D", "deleted"],
  rename: ["R", "renamed"],
} as const;

/** What happened to a file, as a letter. */
export function OperationMark({ operation }: { readonly operation: ChangeOperation | "rename" }) {
  const [letter, word] = marks[operation];
  return (
    <span class={`operation operation-${operation}`} title={word}>
      <span aria-hidden="true">{letter}</span>
      <span class="spoken">{word}</span>
    </span>
  );
}
