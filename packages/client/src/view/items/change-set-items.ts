import type { ChangeSetApplied, ChangeSetUndone } from "@gennai/protocol/gen/gennai/agent/v1/event_pb";
import { type AppliedFile, appliedFileFromMessage } from "@gennai/protocol/model/session/proposal";
import type { ItemList, ItemStart, OpenCell } from "./item-list.ts";
import { joinFiles } from "./view-from-wire.ts";
import type { ChangeSetItem } from "./view-item.ts";

/** A change set that can be taken back. */
export interface StandingChangeSet extends Pick<ChangeSetItem, "changeSetId" | "files"> {
  readonly time: Date | undefined;
}

/** The change sets of a session, made from the events that name them. */
export class ChangeSetItems {
  readonly #items: ItemList;
  readonly #cells = new Map<string, OpenCell<ChangeSetItem>>();
  /** A turn's own change set grows until the turn ends, and is shown only then. */
  readonly #growing = new Map<string, Pick<ChangeSetItem, "files" | "branch"> & { readonly time: Date | undefined }>();

  constructor(items: ItemList) {
    this.#items = items;
  }

  /** Those that were not taken back, oldest first; those of running turns too. */
  get standing(): readonly StandingChangeSet[] {
    const shown = [...this.#cells.values()].flatMap(({ item, time }) => {
      const { changeSetId, files, undone } = item.peek();
      return undone ? [] : [{ changeSetId, files, time }];
    });
    return [...shown, ...[...this.#growing].map(([changeSetId, { files, time }]) => ({ changeSetId, files, time }))];
  }

  /** @param ofRunningTurn true if its id is that of a turn that has not ended */
  apply(place: ItemStart, message: ChangeSetApplied, ofRunningTurn: boolean): void {
    const { changeSetId, branch } = message;
    const files = message.files.map(appliedFileFromMessage);
    const known = this.#cells.get(changeSetId);
    if (known !== undefined) {
      known.item.value = { ...known.item.value, files: joinFiles(known.item.value.files, files), branch };
    } else if (ofRunningTurn && message.proposalId === "") {
      const earlier = this.#growing.get(changeSetId)?.files ?? [];
      this.#growing.set(changeSetId, { files: joinFiles(earlier, files), branch, time: place.time });
    } else {
      const proposalId = message.proposalId === "" ? undefined : message.proposalId;
      this.#show(place, { changeSetId, files, proposalId, branch });
    }
  }

  /** Leaves the files that went back; of older sessions these are not known, and all stay. */
  undo(place: ItemStart, { changeSetId, files: back }: ChangeSetUndone): void {
    this.endTurn({ ...place, turnId: changeSetId });
    const cell = this.#cells.get(changeSetId);
    if (cell === undefined) return;
    const files = cell.item.value.files.filter(({ path }) => back.some((file) => file.path === path));
    cell.item.value = { ...cell.item.value, ...(back.length === 0 ? {} : { files }), undone: true };
  }

  /** Shows what the turn changed, and gives these files. */
  endTurn(place: ItemStart): readonly AppliedFile[] {
    const grown = this.#growing.get(place.turnId);
    this.#growing.delete(place.turnId);
    // Only refs moved.
    if (grown === undefined || grown.files.length === 0) return [];
    const { files, branch } = grown;
    const key = `changeSet:${place.seq}`;
    this.#show({ ...place, key }, { files, branch, changeSetId: place.turnId, proposalId: undefined });
    return files;
  }

  #show(place: ItemStart, fields: Pick<ChangeSetItem, "changeSetId" | "files" | "proposalId" | "branch">): void {
    const item: ChangeSetItem = { kind: "change-set", ...fields, undone: false };
    this.#cells.set(fields.changeSetId, this.#items.add(place, item));
  }
}
