import { closedUnderNeeds } from "@gennai/protocol/model/governance/offered-parts";
import type { OfferedPart } from "@gennai/protocol/model/governance/question";
import { VisibleText } from "../look/visible-text.tsx";

export interface PartsChoiceProps {
  readonly parts: readonly OfferedPart[];
  /** Ids of parts not to keep, including those that need them. */
  readonly dropped?: ReadonlySet<string>;
  /** Without it, there is no choice: the parts are only shown. */
  readonly onDropped?: (dropped: ReadonlySet<string>) => void;
}

/**
 * A command's changes, file by file: what the question is about and why, and what needs no question. The user unticks what should
 * not be kept.
 */
export function PartsChoice({ parts, dropped = nothing, onDropped }: PartsChoiceProps) {
  const asked = parts.filter(({ rule }) => rule !== "");
  const rest = parts.filter(({ rule }) => rule === "");
  const change = (part: OfferedPart, keep: boolean): void => {
    onDropped?.(keep ? withoutNeeds(parts, dropped, part) : closedUnderNeeds(parts, [...dropped, part.id]));
  };
  const list = (title: string, shown: readonly OfferedPart[]) =>
    shown.length > 0 && (
      <fieldset class="parts">
        <legend>{title}</legend>
        {shown.map((part) => (
          <label key={part.id}>
            {onDropped !== undefined && (
              <input
                type="checkbox"
                checked={!dropped.has(part.id)}
                onChange={({ currentTarget }) => change(part, currentTarget.checked)}
              />
            )}
            <span>
              <VisibleText in="code" text={part.name} />
              {part.rule !== "" && (
                <span class="g-quiet">
                  {" "}
                  <VisibleText text={`${part.reason} (${part.rule})`} />
                </span>
              )}
            </span>
          </label>
        ))}
      </fieldset>
    );
  return (
    <>
      {list("Asked about", asked)}
      {list("Needs no question", rest)}
    </>
  );
}

const nothing: ReadonlySet<string> = new Set();

/** A part is kept together with the parts that it needs. */
function withoutNeeds(
  parts: readonly OfferedPart[],
  dropped: ReadonlySet<string>,
  part: OfferedPart,
): ReadonlySet<string> {
  const left = new Set(dropped);
  const keep = ({ id, needs }: OfferedPart): void => {
    if (!left.delete(id)) return;
    for (const need of parts) if (needs.includes(need.id)) keep(need);
  };
  keep(part);
  return left;
}
