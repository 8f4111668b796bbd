import type { CheckedCall, RuleInForce } from "@gennai/client/governance/rules";
import { rulesWords } from "@gennai/client/view/rules-words";
import { ruleKindTitles } from "@gennai/protocol/model/governance/rule-kind";
import { plural } from "@gennai/protocol/plural";
import { useEffect, useMemo, useState } from "preact/hooks";
import { Icon } from "../look/icon.tsx";
import { ProblemNotice } from "../look/problem-notice.tsx";
import { VisibleText } from "../look/visible-text.tsx";
import { Digest } from "../plan/digest.tsx";
import type { GovernanceView } from "./governance-store.ts";
import { ManagedLock, type ManagedPolicy } from "./managed-section.tsx";
import type { RulesStore } from "./rules-store.ts";

export interface RulesSectionProps {
  readonly rules: GovernanceView["rules"];
  readonly managed: readonly ManagedPolicy[];
  readonly store: RulesStore;
  /** False without a session: then no command can be tried. */
  readonly hasSession: boolean;
  /** Opens the file of a rule at its line. @param place `file:line` */
  readonly onOpenRule: ((place: string) => void) | undefined;
}

/** Every rule in force: its text, place and recent decisions; and the verdict of all rules on a command. */
export function RulesSection({ rules, managed, store, hasSession, onOpenRule }: RulesSectionProps) {
  useEffect(() => void store.load(), [store]);
  const { inForce, tried, busy, problem } = store.state.value;
  return (
    <section class="g-section" aria-labelledby="rules-title">
      <h3 id="rules-title">
        Rules in force <ManagedLock policies={managed} of="rules" />
      </h3>
      <p>
        <Icon name="shield" />{" "}
        <VisibleText
          in="strong"
          text={rulesWords(rules.text) || (rules.count === 1 ? "1 rule" : `${rules.count} rules`)}
        />
      </p>
      {rules.lastViolation !== "" && (
        <p class="governance-violation">
          Last violation: <VisibleText text={rules.lastViolation} />
        </p>
      )}
      {rules.problems.length > 0 && (
        <ul class="g-notice g-notice-bad" aria-label="Broken rule files">
          {rules.problems.map((broken) => (
            <VisibleText in="li" key={broken} text={broken} />
          ))}
        </ul>
      )}
      {problem !== undefined && <ProblemNotice problem={problem} onDismiss={() => store.dismiss()} />}
      {hasSession ? (
        <TryCommand tried={tried} busy={busy} onTry={(command) => void store.try(command)} />
      ) : (
        <p class="g-quiet">Begin a session to try a command against them.</p>
      )}
      {inForce !== undefined && (
        <RuleList rules={inForce.rules} callsLookedAt={inForce.callsLookedAt} onOpenRule={onOpenRule} />
      )}
      {rules.policySha256 !== "" && (
        <p class="g-quiet">
          Policy <Digest digest={rules.policySha256} of="the policy" />
        </p>
      )}
    </section>
  );
}

function RuleList(props: {
  readonly rules: readonly RuleInForce[];
  readonly callsLookedAt: number;
  readonly onOpenRule: RulesSectionProps["onOpenRule"];
}) {
  const { rules, callsLookedAt, onOpenRule } = props;
  const [text, setText] = useState("");
  const { spoke, own, builtIn } = useMemo(() => groupedRules(rules, text), [rules, text]);
  const checks = foundChecks(text);
  const rows = (list: readonly RuleInForce[]) =>
    list.map((rule) => <RuleRow key={`${rule.name} ${rule.text}`} rule={rule} onOpenRule={onOpenRule} />);
  return (
    <>
      <input
        class="g-field"
        type="search"
        aria-label="Search in the rules"
        placeholder="Search in the rules"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <h4>Decided lately</h4>
      <p class="g-quiet">
        {callsLookedAt === 0
          ? "Nothing was called here yet."
          : `Of the last ${plural(callsLookedAt, "call")} in the ledger.`}
      </p>
      <ul class="rules" aria-label="Rules that decided lately">
        {rows(spoke)}
      </ul>
      <h4>Rules from your files</h4>
      {own.length === 0 && (
        <p class="g-quiet">{text === "" ? "None besides those that decided lately." : "No other rule matches."}</p>
      )}
      <ul class="rules" aria-label="Rules of your files">
        {rows(own)}
      </ul>
      <details open={text !== "" && builtIn.length + checks.length > 0}>
        <summary>
          Built in: {plural(builtIn.length, "pattern")}, {plural(checks.length, "kind")} of checks
        </summary>
        <ul class="rules" aria-label="Patterns that are built in">
          {rows(builtIn)}
        </ul>
        <ul class="rules" aria-label="Checks that are built in">
          {checks.map(({ group, about }) => (
            <li key={group} class="rule">
              <span class="rule-head">
                <code>{group}/…</code>
              </span>
              <span class="rule-reason">{about}</span>
            </li>
          ))}
        </ul>
      </details>
    </>
  );
}

interface GroupedRules {
  /** Rules that decided something, newest first. */
  readonly spoke: readonly RuleInForce[];
  /** Rules in the files of the user and the project, in their order. */
  readonly own: readonly RuleInForce[];
  readonly builtIn: readonly RuleInForce[];
}

/** @param text words that a rule must contain, in any case */
function groupedRules(rules: readonly RuleInForce[], text: string): GroupedRules {
  const found = rules.filter(({ name, text: said, reason, place }) =>
    hasWords(`${name}\n${said}\n${reason}\n${place}`, text),
  );
  const quiet = found.filter(({ last }) => last === undefined);
  return {
    spoke: found
      .filter(({ last }) => last !== undefined)
      .toSorted((one, other) => (other.last?.getTime() ?? 0) - (one.last?.getTime() ?? 0)),
    own: quiet.filter(({ place }) => place !== ""),
    builtIn: quiet.filter(({ place }) => place === ""),
  };
}

/** The built-in checks that contain these words. */
export function foundChecks(text: string): typeof builtInChecks {
  return builtInChecks.filter(({ group, about }) => hasWords(`${group}/\n${about}`, text));
}

function hasWords(all: string, text: string): boolean {
  const found = all.toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => found.includes(word));
}

/** Checks that are code, so in no rule file, by the first part of their rules' names. */
export const builtInChecks: readonly { readonly group: string; readonly about: string }[] = [
  {
    group: "floor",
    about: "Commands that lose work or hand it out: git history, disks, recursive deletes, downloads that run",
  },
  { group: "commands", about: "Commands that are not proven to only read, or that cannot be understood" },
  { group: "containment", about: "Files and commands outside the workspace" },
  { group: "control-files", about: "Files that steer the agent, git, builds and installs" },
  { group: "secrets", about: "Files and git history that hold secrets" },
  { group: "branch", about: "Protected branches, and changes of branch during a turn" },
  { group: "git-changes", about: "What a command changed in git's own data" },
  { group: "freshness", about: "Writing over what was not read, or was changed since" },
  { group: "single-writer", about: "Two sessions that write in one working tree" },
  { group: "redaction-marker", about: "Writing a masked text over the secret itself" },
  { group: "intents", about: "Changes outside the scope of the selected intent" },
  { group: "external-tools", about: "Tools of MCP servers that are new or have changed" },
  { group: "project-check", about: "Checks whose command comes from the repository" },
  { group: "checkpoints", about: "Commands before which the files cannot be kept" },
  { group: "high-risk", about: "Everything of high risk" },
];

/** A rule: its subject, text, place, and recent decisions. */
function RuleRow(props: { readonly rule: RuleInForce; readonly onOpenRule: ((place: string) => void) | undefined }) {
  const { rule, onOpenRule } = props;
  const { kind, text, name, reason, verdict, place } = rule;
  return (
    <li class="rule">
      <span class="rule-head">
        <span class="g-quiet">{ruleKindTitles[kind]}</span> <VisibleText in="code" text={text === "" ? name : text} />
        {verdict !== undefined && (
          <span class={verdict === "deny" ? "badge badge-bad" : "badge"}>
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

interface TryCommandProps {
  readonly tried: { readonly command: string; readonly answer: CheckedCall } | undefined;
  readonly busy: boolean;
  readonly onTry: (command: string) => void;
}

/** The verdict of all rules on a command, as with `gennai policy check`. The command does not run. */
function TryCommand({ tried, busy, onTry }: TryCommandProps) {
  const [command, setCommand] = useState("");
  return (
    <form
      class="try-command"
      onSubmit={(event) => {
        event.preventDefault();
        if (command.trim() !== "") onTry(command);
      }}
    >
      <input
        class="g-field"
        aria-label="Command to try against the rules"
        placeholder="Try a command (it is not run)"
        value={command}
        spellcheck={false}
        onInput={(event) => setCommand(event.currentTarget.value)}
      />
      <button type="submit" class="button button-quiet" disabled={busy || command.trim() === ""}>
        Try
      </button>
      {tried !== undefined && (
        <div class={`try-answer try-${tried.answer.outcome}`} role="status">
          <p>
            <VisibleText in="code" text={tried.command} /> <strong>{outcomes[tried.answer.outcome]}</strong>
            <span class="g-quiet"> {tried.answer.risk} risk</span>
          </p>
          {tried.answer.rules.length > 0 && (
            <ul>
              {tried.answer.rules.map(({ rule, verdict, reason }) => (
                <li key={`${rule} ${reason}`}>
                  {verdict === "deny" ? "refused" : "asked"} by <code>{rule}</code>: <VisibleText text={reason} />
                </li>
              ))}
            </ul>
          )}
        </div>
      )}
    </form>
  );
}

const outcomes: Readonly<Record<CheckedCall["outcome"], string>> = {
  allow: "runs without a question",
  staged: "runs on a copy: what it changes is judged before any of it is kept",
  ask: "asks you",
  deny: "is refused",
};
