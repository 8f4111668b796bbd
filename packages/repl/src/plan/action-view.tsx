import type { PlannedAction } from "@gennai/protocol/model/session/planned-action";
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { RiskMark } from "../confirmation/risk-mark.tsx";
import { VisibleText } from "../look/visible-text.tsx";
import { diffRows } from "../review/diff-rows.ts";
import { DiffTable } from "../review/diff-table.tsx";

const verdictWords = { allow: "Allowed by the rules", ask: "Asks when it runs", deny: "Denied by the rules" };

interface ActionViewProps {
  readonly action: PlannedAction;
  readonly sideBySide: boolean;
  /** Controls for the action. */
  readonly children: ComponentChildren;
}

/** What one action would do: its diff, or its command, and the rules' verdict. */
export function ActionView({ action, sideBySide, children }: ActionViewProps) {
  const { change, command, cwd, verdict, rule, reason } = action;
  return (
    <article class={`plan-action plan-action-${verdict}`} aria-label={`Action ${action.actionIndex + 1}`}>
      <header class="g-row">
        <span class="plan-action-verdict">{verdictWords[verdict]}</span>
        <RiskMark risk={action.risk} />
        {rule !== "" && <VisibleText in="code" class="g-quiet" text={rule} />}
      </header>
      {reason !== "" && <VisibleText in="p" class="g-quiet" text={reason} />}
      {command !== "" && (
        <>
          <VisibleText in="pre" class="g-code" aria-label="Command" tabIndex={0} text={command} />
          {cwd !== "" && (
            <p class="g-quiet">
              in <VisibleText text={cwd} />
            </p>
          )}
        </>
      )}
      {change !== undefined && (
        <>
          <p class="plan-action-path">
            <VisibleText in="code" text={change.path} />
            {change.operation !== "update" && <span class="badge">{change.operation}</span>}
          </p>
          {change.warning !== "" && (
            <VisibleText in="p" class={change.conflict ? "g-notice g-notice-bad" : "g-notice"} text={change.warning} />
          )}
          {change.hunks.map((hunk) => (
            <HunkDiff
              key={hunk.id}
              lines={hunk.lines}
              {...{ hunk, sideBySide }}
              label={`Difference in ${change.path}`}
            />
          ))}
        </>
      )}
      {children}
    </article>
  );
}

interface HunkDiffProps {
  readonly hunk: { readonly oldRange: { readonly start: number }; readonly newRange: { readonly start: number } };
  readonly lines: readonly string[];
  readonly sideBySide: boolean;
  readonly label: string;
}

/** A preview has only the lines themselves; there are no stored bytes to fetch yet. */
function HunkDiff({ hunk, lines, sideBySide, label }: HunkDiffProps) {
  const rows = useMemo(() => {
    const side = (mark: "-" | "+") =>
      lines.filter((line) => line.startsWith(" ") || line.startsWith(mark)).map((line) => `${line.slice(1)}\n`);
    return diffRows(side("-"), side("+"), hunk.oldRange.start, hunk.newRange.start);
  }, [lines, hunk]);
  return <DiffTable {...{ rows, sideBySide, label }} />;
}
