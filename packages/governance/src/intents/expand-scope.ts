import type { Intent } from "./intent.ts";
import { scopeOf } from "./scope.ts";
import { scopeGlob } from "./scope-glob.ts";

export type ScopeExpansion =
  | {
      readonly type: "expanded";
      /** New paths, without duplicates and without those already owned. */
      readonly added: readonly string[];
      readonly ownedScope: readonly string[];
    }
  /** `why` says what to ask for instead. */
  | { readonly type: "refused"; readonly why: string };

/** The scope of an intent with some more paths. Exclusions stay: what they exclude cannot be added by asking. */
export function expandedScope(intent: Intent, paths: readonly string[]): ScopeExpansion {
  const added: string[] = [];
  for (const asked of paths) {
    const path = asked.trim().replace(/^\.\//, "");
    const result = scopeGlob(path);
    if (!result.ok) return { type: "refused", why: `${JSON.stringify(asked.slice(0, 200))} ${result.problem}.` };
    if (result.glob.excludes) return { type: "refused", why: `${path} begins with !; ask only for paths to add.` };
    if (intent.ownedScope.includes(path) || added.includes(path)) continue;
    if (!/[*?[{]/.test(path)) {
      if (scopeOf(intent.ownedScope).owns(path)) continue;
      if (!scopeOf([...intent.ownedScope, path]).owns(path)) {
        return {
          type: "refused",
          why: `${path} is excluded from ${intent.id} by name; only the user can change that.`,
        };
      }
    }
    added.push(path);
  }
  if (added.length === 0) return { type: "refused", why: `${intent.id} owns all of this already.` };
  return { type: "expanded", added, ownedScope: [...intent.ownedScope, ...added] };
}
