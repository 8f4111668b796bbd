import type { StandingCheck } from "@gennai/governance/gate/standing-check";

/** Both must allow. */
export function bothChecks(first: StandingCheck, second: StandingCheck): StandingCheck {
  return {
    check: (input) => {
      const verdict = first.check(input);
      return verdict.type === "allow" ? second.check(input) : verdict;
    },
    onChange: (listener) => {
      const subscriptions = [first.onChange(listener), second.onChange(listener)];
      return {
        [Symbol.dispose]: () => {
          for (const subscription of subscriptions) subscription[Symbol.dispose]();
        },
      };
    },
  };
}
