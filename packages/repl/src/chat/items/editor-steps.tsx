import type { ClientRequestItem, ItemCell } from "@gennai/client/view/items/view-item";
import { plural } from "@gennai/protocol/plural";
import { useChat } from "../chat-context.ts";
import { FoldButton } from "../fold-button.tsx";
import { ClientRequestLine } from "./work-items.tsx";

/** What an editor did for the calls around: only among details, except for what still waits or was not answered. */
export function EditorSteps({ cells, id }: { readonly cells: readonly ItemCell[]; readonly id: string }) {
  const { control, folds } = useChat();
  const open = folds.of(id, false);
  const steps = cells.flatMap(({ key, item }) => {
    const { value } = item;
    return value.kind === "client-request" ? [{ key, item: value }] : [];
  });
  const done = steps.filter(({ item }) => isQuiet(item));
  const shown = open.value ? steps : steps.filter(({ item }) => !isQuiet(item));
  if (shown.length === 0 && !control.details.value) return null;
  return (
    <div class="steps">
      {done.length > 0 && control.details.value && (
        <FoldButton class="steps-head" open={open}>
          {plural(done.length, "step")} in the editor
        </FoldButton>
      )}
      {shown.map(({ key, item }) => (
        <ClientRequestLine key={key} item={item} />
      ))}
    </div>
  );
}

function isQuiet({ state }: ClientRequestItem): boolean {
  return state === "answered" || state === "cancelled";
}
