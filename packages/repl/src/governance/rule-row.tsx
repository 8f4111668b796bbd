import type { RuleInForce } from "@gennai/client/governance/rules";
import { ruleKindTitles } from "@gennai/protocol/model/governance/rule-kind";
import { VisibleText } from "../look/visible-text.tsx";

/** A rule: its subject, text, place, and recent decisions. */
export function RuleRow(props: {
  readonly rule: RuleInForce;
  readonly onOpenRule: ((place: string) => void) | undefined;
}) {
  const { rule, onOpenRule } = props;
  const { kind, text, name, reason, verdict, place } = rule;
  return (
    <li class="rule">
      <span class="rule-head">
        <span class="g-quiet">{ruleKindTitles[kind]}</span> <VisibleText in="code" text={text === "" ? name : text} />
        {verdict !== undefined && (
          <span class={verdict === "deny" ? "g-badge g-badge-bad" : "g-badge"}>
            {verdict === "deny" ? "refuses" : "asks"}
          </span>
        )}
      </span>
      {reason !== "" && <VisibleText in="span" class="rule-reason" text={reason} />}
      <span class="rule-facts g-quiet">
        <span>{didWords(rule)}</span>
        {place === "" ? (
          <span>built in</span>
        ) : onOpenRule === undefined ? (
          <VisibleText text={place} />
        ) : (
          <button type="button" class="link" title="Open the rule in its file" onClick={() => onOpenRule(place)}>
            {place}
          </button>
        )}
      </span>
    </li>
  );
}

function didWords({ refused, allowed, last }: RuleInForce): string {
  if (last === undefined) return "";
  const did = [refused === 0 ? "" : `refused ${refused}`, allowed === 0 ? "" : `allowed by a person ${allowed}`];
  const when = last.toLocaleString(undefined, { dateStyle: "short", timeStyle: "short" });
  return `${did.filter((word) => word !== "").join(", ")} · last ${when}`;
}
