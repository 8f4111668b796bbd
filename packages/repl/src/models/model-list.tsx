import type { ChosenModel } from "@gennai/client/host/window-requests";
import { backendLabel } from "@gennai/protocol/model/session/backend";
import { plural } from "@gennai/protocol/plural";
import { useEffect, useRef } from "preact/hooks";
import { isSameModel, type ShownModel } from "./shown-models.ts";

export interface ModelListProps {
  readonly models: readonly ShownModel[];
  readonly chosen: ShownModel | undefined;
  /** Model of the next turn; undefined if none was chosen. */
  readonly current: ChosenModel | undefined;
  readonly text: string;
  readonly isListing: boolean;
  readonly onText: (text: string) => void;
  readonly onPick: (model: ShownModel) => void;
  readonly onUse: () => void;
}

/** Most lines that are drawn: a person who looks for others types a letter. */
const mostLines = 100;

/** A search field and its results. The arrow keys move in the list, Enter uses a model. */
export function ModelList({ models, chosen, current, text, isListing, onText, onPick, onUse }: ModelListProps) {
  const list = useRef<HTMLUListElement>(null);
  const shown = models.slice(0, mostLines);
  const at = chosen === undefined ? -1 : shown.indexOf(chosen);
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" });
  }, [at, text]);
  const move = (to: number): void => {
    const next = shown[Math.min(Math.max(to, 0), shown.length - 1)];
    if (next !== undefined) onPick(next);
  };
  const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };
  return (
    <>
      <input
        type="text"
        role="combobox"
        aria-label="Search models"
        aria-expanded="true"
        aria-controls="model-lines"
        aria-autocomplete="list"
        aria-activedescendant={at === -1 ? undefined : `model-line-${at}`}
        placeholder="Search models"
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={({ currentTarget }) => onText(currentTarget.value)}
        onKeyDown={(event) => {
          const step = steps[event.key];
          if (step !== undefined) {
            event.preventDefault();
            move(at + step);
          } else if (event.key === "Enter") {
            event.preventDefault();
            onUse();
          }
        }}
      />
      <ul id="model-lines" class="model-lines" role="listbox" aria-label="Models" ref={list} tabIndex={-1}>
        {shown.map((each, index) => {
          const isCurrent = current !== undefined && isSameModel(each, current);
          return (
            // biome-ignore lint/a11y/useKeyWithClickEvents: The keys are the search field's, as a combobox has them.
            <li
              key={`${each.backend} ${each.model}`}
              id={`model-line-${index}`}
              class="model-line"
              role="option"
              aria-selected={index === at}
              onClick={() => onPick(each)}
              onDblClick={onUse}
            >
              <span class="model-name">
                {each.name}
                {isCurrent && <span class="model-current"> in use</span>}
              </span>
              <span class="model-facts">
                {[backendLabel(each.backend), each.lacksKey ? "needs a key" : "", each.facts]
                  .filter((word) => word !== "")
                  .join(" · ")}
              </span>
            </li>
          );
        })}
      </ul>
      <p class="model-count" role="status">
        {countWords(models.length, { isListing, text })}
      </p>
    </>
  );
}

function countWords(count: number, { isListing, text }: Pick<ModelListProps, "isListing" | "text">): string {
  if (isListing) return "Looking for models…";
  if (count === 0) return text.trim() === "" ? "No provider lists any model." : "No model has this name.";
  if (count > mostLines) return `${count} models: ${mostLines} are shown, type to find yours.`;
  return plural(count, "model");
}
