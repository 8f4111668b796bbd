import type { CommandPath } from "../command-analysis.ts";
import { type Effect, isReadOnly } from "../effect.ts";
import type { Policy, PolicyInput } from "../policy.ts";
import { allow, ask, deny, strictest, type Verdict } from "../verdict.ts";
import type { Intent } from "./intent.ts";
import { type Scope, scopeOf } from "./scope.ts";

/** The state of intents at the moment of a call. */
export interface IntentRules {
  /** False: nothing has to be done under an intent. */
  readonly on: boolean;
  /** The session's intent, if it can still be selected. */
  readonly active: Intent | undefined;
  readonly selectable: readonly Intent[];
  /** Nothing can be selected, because the current intents file has not been accepted. */
  readonly waitsForAcceptance?: boolean;
  /** True for paths that no intent may edit; they hold with `on` false as well. */
  ignored(path: string): boolean;
}

export const citeIntentMessage = "You must cite a valid active Intent ID.";

/**
 * Changes need a selected intent, and only paths in its scope may be changed. Proposals count as changes. Commands are judged
 * by the paths they write and delete; one that may change unknown paths asks.
 *
 * @param options.root real absolute path of the workspace
 * @param options.rules the current state, read for every call
 */
export function createIntentsPolicy(options: {
  readonly root: string;
  readonly rules: () => IntentRules | Promise<IntentRules>;
}): Policy {
  return {
    name: "intents",
    kind: "guard",
    async decide(input) {
      if (!changesSomething(input)) return allow;
      const rules = await options.rules();
      const verdicts = [
        allow,
        ...input.analysis.effects.flatMap((effect) => ignoredVerdicts(effect, rules, options.root)),
      ];
      if (rules.on) {
        const { active } = rules;
        if (active === undefined) verdicts.push(intentRequired(rules));
        else {
          const scope = scopeOf(active.ownedScope);
          verdicts.push(
            ...input.analysis.effects.flatMap((effect) => scopeVerdicts(effect, active, scope, options.root)),
          );
        }
      }
      return strictest(verdicts);
    },
  };
}

/** A tool that changes things and does not say which is taken at its worst. */
function changesSomething({ access, analysis }: PolicyInput): boolean {
  const { effects } = analysis;
  if (effects.length === 0) return access === "change";
  return effects.some((effect) => !isReadOnly(effect) || effect.type === "propose");
}

/** Refuses for want of an intent. */
function intentRequired(rules: IntentRules): Verdict {
  return deny({
    code: "intent_required",
    rule: "intents/required",
    reason: citeIntentMessage,
    hint: selectIntentHint(rules),
    retryable: true,
  });
}

/** What to do without an intent: names the tool and the ids that can be used. */
export function selectIntentHint({
  selectable,
  waitsForAcceptance = false,
}: Pick<IntentRules, "selectable" | "waitsForAcceptance">): string {
  if (waitsForAcceptance) {
    return "The intents file is not accepted as it is now. Ask the user to read it, and then to run gennai intents accept.";
  }
  if (selectable.length === 0) return "No intent can be selected now. Ask the user to add one or to make one active.";
  const ids = selectable.slice(0, 20).map(({ id }) => id);
  const more = selectable.length > ids.length ? " …" : "";
  return `Call select_active_intent first, with one of: ${ids.join(", ")}${more}.`;
}

function ignoredVerdicts(effect: Effect, rules: IntentRules, root: string): readonly Verdict[] {
  return changedPaths(effect, root).flatMap(({ relative, raw, certain }) => {
    if (!rules.ignored(relative)) return [];
    if (!certain && isStaged(effect)) return [];
    if (!certain) return [uncertain(`This command names ${raw}, which .intentignore lists`)];
    return [
      deny({
        code: "intent_ignored",
        rule: "intents/ignored",
        reason: `Security Policy Violation: ${raw} is listed in .intentignore, which no intent may edit.`,
        hint: "Leave this file as it is, or ask the user to change it.",
      }),
    ];
  });
}

function scopeVerdicts(effect: Effect, intent: Intent, scope: Scope, root: string): readonly Verdict[] {
  const verdicts: Verdict[] = [];
  for (const path of changedPaths(effect, root)) {
    const below = path.reach === "itself" ? "all" : scope.ownsBelow(path.relative);
    const outside = path.reach === "some-below" ? below === "none" : !scope.owns(path.relative);
    if (outside && path.certain) verdicts.push(violation(intent, path.raw));
    else if ((outside || below !== "all") && !isStaged(effect))
      verdicts.push(uncertain(`${path.raw} may reach beyond the scope of ${intent.id}`));
  }
  if (effect.type === "exec" && !isStaged(effect) && !effect.command.readsOnly && !writesAreKnown(effect, root)) {
    verdicts.push(uncertain(`What this command changes is not known, so it may be outside the scope of ${intent.id}`));
  }
  return verdicts;
}

/** Its changes are judged after it has run, before they are kept. */
function isStaged(effect: Effect): boolean {
  return effect.type === "exec" && effect.staged === true;
}

function violation(intent: Intent, file: string): Verdict {
  return deny({
    code: "scope_violation",
    rule: "intents/scope",
    reason: `Scope Violation: ${intent.id} is not authorized to edit ${file}. Request scope expansion.`,
    hint: "Call request_scope_expansion with the paths and the reason, or work inside the scope.",
    retryable: true,
  });
}

function uncertain(reason: string): Verdict {
  return ask({ code: "scope_uncertain", rule: "intents/command-scope", reason: `${reason}.` });
}

interface ChangedPath {
  /** Relative to the workspace; for a glob, the directory it starts in. */
  readonly relative: string;
  /** For messages. */
  readonly raw: string;
  /** `all-below`: with everything below it, if it is a directory; `some-below`: what a glob names below it. */
  readonly reach: "itself" | "all-below" | "some-below";
  /** False when a command names it and may only read it: `npm test` names `test`. */
  readonly certain: boolean;
}

/** What an effect changes inside the workspace; the outside is covered by another policy. */
function changedPaths(effect: Effect, root: string): readonly ChangedPath[] {
  switch (effect.type) {
    case "write":
    case "propose": {
      const { path } = effect;
      const raw = path.relative === "" ? path.raw : path.relative;
      return path.inside ? [{ relative: path.relative, raw, reach: "itself", certain: true }] : [];
    }
    case "exec":
      if (effect.command.readsOnly) return [];
      return effect.command.paths.filter(changes).flatMap((path) => commandPath(path, root));
    case "external":
      if (effect.readsOnly) return [];
      return effect.paths.flatMap(({ relative, raw, inside }) =>
        inside ? [{ relative, raw, reach: "itself" as const, certain: false }] : [],
      );
    case "read":
    case "list":
    case "search":
    case "git":
    case "net":
    case "session":
      return [];
  }
}

function changes({ access }: CommandPath): boolean {
  return access === "write" || access === "delete" || access === "unknown";
}

function commandPath(path: CommandPath, root: string): readonly ChangedPath[] {
  const relative = withoutRoot(path.absolute, root);
  if (relative === undefined) return [];
  const certain = path.access !== "unknown" && path.keepsContent !== true;
  if (path.pattern === true) {
    const fixed = relative.split("/");
    const start = fixed.findIndex((name) => /[*?[{]/.test(name));
    const directory = fixed.slice(0, start === -1 ? fixed.length : start).join("/");
    return [{ relative: directory, raw: path.raw, reach: "some-below", certain }];
  }
  // A name may be a directory: what is deleted, or done to it, is done to all in it.
  return [{ relative, raw: path.raw, reach: path.access === "write" ? "itself" : "all-below", certain }];
}

function withoutRoot(path: string, root: string): string | undefined {
  if (path === root) return "";
  return path.startsWith(`${root}/`) ? path.slice(root.length + 1) : undefined;
}

/** Programs that change the paths they name and nothing else. */
const plainPrograms: ReadonlySet<string> = new Set(
  "mkdir touch cp mv rm rmdir ln tee echo printf cat cd true false test [ : pwd".split(" "),
);

function writesAreKnown(effect: Effect & { readonly type: "exec" }, root: string): boolean {
  const { command } = effect;
  return (
    command.unresolved.length === 0 &&
    command.commands.every(({ name }) => plainPrograms.has(name)) &&
    command.paths.some((path) => changes(path) && withoutRoot(path.absolute, root) !== undefined)
  );
}
