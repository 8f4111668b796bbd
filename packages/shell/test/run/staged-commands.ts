import type { Effect } from "@gennai/governance/effect";

/** A commit by somebody, whatever the user is called. */
export const commit = "git -c user.name=a -c user.email=a@example.com commit -q";

/** An effect in a few words, e.g. `create src/a.ts ignored`. */
export function words(effect: Effect): string {
  if (effect.type === "git") {
    const isDetached = effect.what === "head" && !effect.to?.includes("refs/");
    return `git ${effect.what} ${effect.name}${isDetached ? " detached" : ""}${effect.agreed ? " agreed" : ""}`;
  }
  if (effect.type !== "write") return effect.type;
  const { operation, path, found } = effect;
  const more = [
    ...(["agreed", "tracked", "ignored"] as const).filter((name) => found?.[name] === true),
    ...(found?.traits ?? []),
  ];
  return [operation, path.inside ? path.relative : "OUTSIDE", ...more].join(" ");
}
